package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// openCode keeps all sessions in one database; a subagent is a session with a parent. It does not
// write down that a person was asked, and refuses its own questions in a run without a person.
var openCode = agent{
	name: "opencode", title: "OpenCode", prompts: Unknown, depth: 0,
	roots: func(p places) []string { return []string{p.in("XDG_DATA_HOME", ".local/share", "opencode")} },
	is:    func(file string) bool { return filepath.Base(file) == "opencode.db" },
	read: func(ctx context.Context, f *File, c *collector) error {
		const query = `SELECT coalesce(s.parent_id, s.id), s.parent_id IS NOT NULL, s.directory, p.time_created, p.data
			FROM part p JOIN session s ON s.id = p.session_id
			WHERE p.time_created >= ? AND octet_length(p.data) < 8388608 AND instr(p.data, '"tool"') > 0
			ORDER BY p.time_created DESC`
		return rows(ctx, f, []string{"part", "session"}, query, func(scan func(...any) error) error {
			var session, cwd, data string
			var subagent bool
			var created int64
			if err := scan(&session, &subagent, &cwd, &created, &data); err != nil {
				c.skipped++ // a row of another form
				return nil
			}
			c.root = ""
			call := Call{Session: session, Subagent: subagent, Cwd: cwd, Time: millis(created)}
			openCodePart(c, call, json.RawMessage(data))
			return nil
		}, sinceMillis(c.since))
	},
}

func openCodePart(c *collector, call Call, data json.RawMessage) {
	var is struct {
		Type, Tool, CallID string
		State              struct {
			Status   string
			Input    json.RawMessage
			Error    string
			Metadata struct{ Exit *int }
		}
	}
	if json.Unmarshal(data, &is) != nil {
		c.skipped++
		return
	}
	if is.Type != "tool" || is.Tool == "invalid" { // a call of a tool that is not there
		return
	}
	call.ID, call.Tool, call.Input = is.CallID, is.Tool, is.State.Input
	if dir, ok := rawjson.GetString(is.State.Input, "workdir"); ok && filepath.IsAbs(dir) {
		call.Cwd = dir
	}
	switch is.State.Status {
	case "completed":
		if call.Outcome = Ran; is.State.Metadata.Exit != nil && *is.State.Metadata.Exit != 0 {
			call.Outcome = Failed
		}
	case "error":
		openCodeError(&call, is.State.Error)
	}
	c.done(call)
}

// openCodeError tells refusals from failures by the text: a hook's is known where it is hookd's.
func openCodeError(call *Call, text string) {
	switch {
	case strings.HasPrefix(text, "The user has specified a rule"):
		call.Outcome, call.By = Denied, ByRule
	case strings.HasPrefix(text, "The user rejected permission"): // or no person was there
		call.Outcome = Denied
	case strings.HasPrefix(text, "hookd"):
		call.Outcome, call.By = Denied, ByHook
	default:
		call.Outcome = Failed
	}
}
