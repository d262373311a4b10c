package transcripts

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// droid keeps a file for each session, with the messages of its model in them. It does not say who decided. The
// form is that of several readers of others; no transcript of a real run was at hand.
var droid = agent{
	name: "droid", title: "Droid", prompts: Unknown, depth: 2,
	roots: func(p places) []string { return []string{p.own("droid", "sessions")} },
	is:    func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read: func(ctx context.Context, f *File, c *collector) error {
		var session, cwd string
		return lines(ctx, f, c, func(line []byte) {
			if !json.Valid(line) {
				c.skipped++
				return
			}
			switch rawjson.StringIn(line, "type") {
			case "session_start":
				session, cwd = rawjson.StringIn(line, "id"), rawjson.StringIn(line, "cwd")
			case "message":
				droidMessage(line, session, cwd, c)
			}
		}, `"session_start"`, `"tool_use"`, `"tool_result"`)
	},
}

func droidMessage(line []byte, session, cwd string, c *collector) {
	when := rawjson.StringIn(line, "timestamp")
	for _, part := range elements(rawjson.Get(rawjson.Get(line, "message"), "content")) {
		switch rawjson.StringIn(part, "type") {
		case "tool_use":
			call := Call{Session: session, Cwd: cwd, Time: timeOf(when), Input: rawjson.Get(part, "input")}
			call.ID, call.Tool = rawjson.StringIn(part, "id"), rawjson.StringIn(part, "name")
			c.call(call)
		case "tool_result":
			c.ended(rawjson.StringIn(part, "tool_use_id"), string(rawjson.Get(part, "is_error")) == "true")
		}
	}
}
