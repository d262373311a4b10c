package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Said is a text that an agent wrote for a person to read, between its calls.
type Said struct {
	Time time.Time
	Text string // at most maxSaid bytes
}

const maxSaid = 4 << 10

// saying are the agents whose texts are read: the words that a line must have, and its text.
var saying = map[events.Dialect]struct {
	words []string
	said  func(line json.RawMessage) (at, text string)
}{
	"claude-code": {[]string{`"type":"assistant"`, `"type": "assistant"`}, claudeSaid},
	"codex":       {[]string{`"response_item"`}, codexSaid},
	"qwen-code":   {[]string{`"assistant"`}, qwenSaid},
	"gemini-cli":  {[]string{`"gemini"`}, geminiSaid},
}

// SaidIn returns the last texts, at most limit, that an agent wrote in a session, the oldest first. found is
// false where no transcript of the session is here, or the agent's texts are not read. The file is one of Find's,
// whose name has the session's id.
func SaidIn(
	ctx context.Context, opt Options, name events.Dialect, session string, limit int,
) (list []Said, found bool) {
	of, is := saying[name]
	if !is || len(session) < 8 {
		return nil, false
	}
	id := session
	if name == "gemini-cli" {
		id = session[:8] // its file names have no more
	}
	for _, f := range Find(opt).Files {
		if f.Agent != name || !strings.Contains(filepath.Base(f.Path), id) || !strings.HasSuffix(f.Path, ".jsonl") {
			continue
		}
		found = true
		// What was read before an error is shown.
		_ = lines(ctx, f, &collector{}, func(line []byte) {
			at, text := of.said(line)
			if text = strings.TrimSpace(text); text == "" {
				return
			}
			text = strings.ToValidUTF8(text[:min(len(text), maxSaid)], "")
			list = append(list, Said{timeOf(at), text})
			if len(list) >= 2*limit {
				list = slices.Delete(list, 0, len(list)-limit)
			}
		}, of.words...)
	}
	slices.SortStableFunc(list, func(a, b Said) int { return a.Time.Compare(b.Time) })
	return list[max(0, len(list)-limit):], found
}

// texts joins the texts of the parts of a message whose type is one of kinds; no kinds = any.
func texts(parts json.RawMessage, kinds ...string) string {
	if whole, is := rawjson.Text(parts); is {
		return whole
	}
	var list []string
	for _, part := range elements(parts) {
		kind := rawjson.StringIn(part, "type")
		if text, is := rawjson.GetString(part, "text"); is && (len(kinds) == 0 || slices.Contains(kinds, kind)) {
			list = append(list, text)
		}
	}
	return strings.Join(list, "\n")
}

func claudeSaid(line json.RawMessage) (at, text string) {
	l := readClaudeLine(line)
	if kind := rawjson.StringIn(line, "type"); kind != "assistant" || l.IsSidechain {
		return "", ""
	}
	return l.Timestamp, texts(rawjson.Get(l.Message, "content"), "text")
}

func codexSaid(line json.RawMessage) (at, text string) {
	payload := rawjson.Get(line, "payload")
	kind := rawjson.StringIn(payload, "type")
	if role := rawjson.StringIn(payload, "role"); kind != "message" || role != "assistant" {
		return "", ""
	}
	at = rawjson.StringIn(line, "timestamp")
	return at, texts(rawjson.Get(payload, "content"), "output_text", "text")
}

func qwenSaid(line json.RawMessage) (at, text string) {
	if rawjson.StringIn(line, "type") != "assistant" {
		return "", ""
	}
	var parts []string
	for _, part := range elements(rawjson.Get(rawjson.Get(line, "message"), "parts")) {
		if text, is := rawjson.GetString(part, "text"); is && string(rawjson.Get(part, "thought")) != "true" {
			parts = append(parts, text)
		}
	}
	at = rawjson.StringIn(line, "timestamp")
	return at, strings.Join(parts, "\n")
}

func geminiSaid(line json.RawMessage) (at, text string) {
	if rawjson.StringIn(line, "type") != "gemini" {
		return "", ""
	}
	at = rawjson.StringIn(line, "timestamp")
	return at, texts(rawjson.Get(line, "content"))
}
