package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// copilot keeps a file of events for each session, its subagents' among them. It writes down each
// question. The words for a person's answers were not seen in a real run. A refusal for want of a
// person is not counted as a person's.
var copilot = agent{
	name: "copilot", title: "Copilot CLI", prompts: Counted, depth: 1,
	roots: func(p places) []string { return []string{p.own("copilot", "session-state")} },
	is:    func(file string) bool { return filepath.Base(file) == "events.jsonl" },
	read: func(ctx context.Context, f *File, c *collector) error {
		s := &copilotSession{c: c, session: filepath.Base(filepath.Dir(f.Path))}
		return lines(ctx, f, c, s.line, `"session.start"`, `"tool.execution_`, `"permission.completed"`)
	},
}

type copilotSession struct {
	c            *collector
	session, cwd string
}

func (s *copilotSession) line(line []byte) {
	kind := rawjson.StringIn(line, "type")
	data := rawjson.Get(line, "data")
	id := rawjson.StringIn(data, "toolCallId")
	switch kind {
	case "session.start":
		s.cwd = rawjson.StringIn(rawjson.Get(data, "context"), "cwd")
		if cwd, ok := rawjson.GetString(data, "cwd"); ok {
			s.cwd = cwd
		}
	case "tool.execution_start":
		if !json.Valid(line) {
			s.c.skipped++
			return
		}
		when := rawjson.StringIn(line, "timestamp")
		call := Call{ID: id, Session: s.session, Time: timeOf(when), Cwd: s.cwd, Input: rawjson.Get(data, "arguments"),
			Subagent: rawjson.Get(line, "agentId") != nil}
		call.Tool = rawjson.StringIn(data, "toolName")
		s.c.call(call)
	case "permission.completed":
		answer := rawjson.StringIn(rawjson.Get(data, "result"), "kind")
		source := rawjson.StringIn(data, "decisionSource")
		s.c.about(id, func(call *Call) { copilotAnswer(call, answer, source) })
	case "tool.execution_complete":
		s.c.result(id, func(call *Call) { copilotResult(call, data) })
	}
}

func copilotAnswer(call *Call, answer, source string) {
	switch {
	case source == "unattended_fallback" || strings.Contains(answer, "could-not-request"):
		call.By = ByDefault
	case strings.Contains(answer, "rule") || strings.Contains(source, "rule"):
		call.By = ByRule
	case strings.Contains(source, "hook"):
		call.By = ByHook
	case strings.HasPrefix(answer, "approved"):
		call.By, call.Prompt = ByPerson, Prompt{Asked: true, Yes: true}
	case strings.HasPrefix(answer, "denied"):
		call.By, call.Prompt = ByPerson, Prompt{Asked: true}
	}
}

func copilotResult(call *Call, data json.RawMessage) {
	var is struct {
		Success        bool
		Error          struct{ Message, Code string }
		ShellExecution struct{ ExitCode int }
	}
	for _, name := range []string{"success", "error", "shellExecution"} {
		if v := rawjson.Get(data, name); v != nil {
			_ = json.Unmarshal(only(name, v), &is) // a wrong type tells nothing
		}
	}
	switch {
	case is.Error.Code == "denied":
		call.Outcome = Denied
		switch {
		case strings.HasPrefix(is.Error.Message, "Denied by preToolUse hook"):
			call.By = ByHook
		case strings.Contains(is.Error.Message, "due to the following rules"):
			call.By = ByRule
		}
	case !is.Success || is.ShellExecution.ExitCode != 0:
		call.Outcome = Failed
	default:
		call.Outcome = Ran
	}
}
