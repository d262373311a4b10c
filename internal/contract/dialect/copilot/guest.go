package copilot

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// guest: Copilot runs the hooks in Claude Code's settings after its own, in either
// form. Only its payloads have a time and the name hookName.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode},
		Sent: func(payload json.RawMessage, _ func(string) string) bool {
			return rawjson.Get(payload, "timestamp") != nil
		},
		Named: func(payload json.RawMessage) string {
			if rawjson.Get(payload, "sessionId") == nil {
				return ""
			}
			return rawjson.StringIn(payload, "hookName")
		},
		When: func(payload json.RawMessage, _ *events.Contract) string {
			return milliseconds(rawjson.Get(payload, "timestamp"))
		},
	}
}

// milliseconds reads a timestamp in either form; "" = it is none.
func milliseconds(value json.RawMessage) string {
	text, is := rawjson.Text(value)
	if !is {
		_, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return ""
		}
		return string(value)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}
