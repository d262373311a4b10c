package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// kimi keeps a file for each agent of a session. It writes down each answer of a person.
var kimi = agent{
	name: "kimi", title: "Kimi Code", prompts: Counted, depth: 4,
	roots: func(p places) []string { return []string{p.own("kimi", "sessions")} },
	is:    func(file string) bool { return filepath.Base(file) == "wire.jsonl" },
	read: func(ctx context.Context, f *File, c *collector) error {
		agentDir := filepath.Dir(f.Path) // SESSION/agents/ID
		dir := filepath.Dir(filepath.Dir(agentDir))
		s := &kimiSession{c: c, session: filepath.Base(dir), subagent: filepath.Base(agentDir) != "main"}
		var state struct{ Cwd string }
		if err := document(filepath.Join(dir, "state.json"), &state); err != nil {
			c.skipped++
		}
		s.cwd = state.Cwd
		return lines(ctx, f, c, s.line, `"tool.call"`, `"tool.result"`, `"permission.record_approval_result"`)
	},
}

type kimiSession struct {
	c            *collector
	session, cwd string
	subagent     bool
	answered     map[string]Prompt // by call; an answer may stand before its call
}

func (s *kimiSession) line(line []byte) {
	if !json.Valid(line) {
		s.c.skipped++
		return
	}
	switch rawjson.StringIn(line, "type") {
	case "permission.record_approval_result":
		s.answer(line)
		return
	case "context.append_loop_event":
	default:
		return
	}
	event := rawjson.Get(line, "event")
	id := rawjson.StringIn(event, "toolCallId")
	switch rawjson.StringIn(event, "type") {
	case "tool.call":
		var at int64
		_ = json.Unmarshal(rawjson.Get(line, "time"), &at) // 0 = it is not known
		call := Call{ID: id, Session: s.session, Time: millis(at), Cwd: s.cwd, Subagent: s.subagent,
			Input: rawjson.Get(event, "args")}
		call.Tool = rawjson.StringIn(event, "name")
		if cwd, ok := rawjson.GetString(rawjson.Get(event, "display"), "cwd"); ok && filepath.IsAbs(cwd) {
			call.Cwd = cwd
		}
		if p, ok := s.answered[id]; ok {
			call.Prompt, call.By = p, ByPerson
		}
		s.c.call(call)
	case "tool.result":
		s.c.result(id, func(call *Call) { kimiResult(call, rawjson.Get(event, "result")) })
	}
}

func (s *kimiSession) answer(line json.RawMessage) {
	id := rawjson.StringIn(line, "toolCallId")
	decision := rawjson.StringIn(rawjson.Get(line, "result"), "decision")
	if id == "" || decision == "cancelled" {
		return
	}
	p := Prompt{Asked: true, Yes: decision == "approved"}
	if s.answered == nil || len(s.answered) > maxPending {
		s.answered = map[string]Prompt{}
	}
	s.answered[id] = p
	s.c.about(id, func(call *Call) { call.Prompt, call.By = p, ByPerson })
}

func kimiResult(call *Call, result json.RawMessage) {
	failed := string(rawjson.Get(result, "isError")) == "true"
	output := rawjson.Get(result, "output")
	switch {
	case call.Prompt.Asked && !call.Prompt.Yes:
		call.Outcome = Denied
	case failed && strings.HasPrefix(string(output), `"hookd`):
		call.Outcome, call.By = Denied, ByHook
	case failed:
		call.Outcome = Failed
	default:
		call.Outcome = Ran
	}
}
