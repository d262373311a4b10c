package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// cline keeps one document a session. It does not write down that a person was asked; a call that
// a hook has cancelled has no result.
var cline = agent{
	name: "cline", title: "Cline", prompts: Unknown, depth: 1,
	roots: func(p places) []string { return []string{filepath.Join(p.home, ".cline", "data", "sessions")} },
	is:    func(file string) bool { return strings.HasSuffix(file, ".messages.json") },
	read: func(ctx context.Context, f *File, c *collector) error {
		var session struct {
			Session    string `json:"session_id"`
			Cwd        string
			IsSubagent bool   `json:"is_subagent"`
			Parent     string `json:"parent_session_id"`
		}
		if err := document(strings.TrimSuffix(f.Path, ".messages.json")+".json", &session); err != nil {
			c.skipped++
		}
		if session.Session == "" {
			session.Session = strings.TrimSuffix(filepath.Base(f.Path), ".messages.json")
		}
		call := Call{Session: session.Session, Cwd: session.Cwd, Subagent: session.IsSubagent || session.Parent != ""}
		return documents(ctx, f, c, "messages", func(message json.RawMessage) { clineMessage(c, call, message) })
	},
}

func clineMessage(c *collector, call Call, message json.RawMessage) {
	var is struct {
		TS      int64
		Content []json.RawMessage
	}
	if json.Unmarshal(message, &is) != nil {
		return // a text instead of a list of parts has no call
	}
	for _, part := range is.Content {
		switch rawjson.StringIn(part, "type") {
		case "tool_use":
			next := call
			next.Time, next.Input = millis(is.TS), rawjson.Get(part, "input")
			next.ID, next.Tool = rawjson.StringIn(part, "id"), rawjson.StringIn(part, "name")
			c.call(next)
		case "tool_result":
			failed := string(rawjson.Get(part, "is_error")) == "true"
			for _, one := range elements(rawjson.Get(part, "content")) {
				failed = failed || string(rawjson.Get(one, "success")) == "false"
			}
			c.ended(rawjson.StringIn(part, "tool_use_id"), failed)
		}
	}
}
