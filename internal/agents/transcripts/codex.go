package transcripts

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// codex keeps a file for each thread; a subagent is a thread of its own. A person's yes leaves no
// trace: how much longer a command took than it ran is how long it waited for an answer.
var codex = agent{
	name: "codex", title: "Codex", prompts: Estimated, depth: 5,
	roots: func(p places) []string {
		return []string{p.in("CODEX_HOME", ".codex", "sessions"), p.in("CODEX_HOME", ".codex", "archived_sessions")}
	},
	is:   func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read: readCodex,
}

// codexWait is how long a call waits that a person was probably asked about.
const codexWait = 1500 * time.Millisecond

// codexThread has the facts about a call from the lines before it.
type codexThread struct {
	c                      *collector
	session, cwd, approval string
	subagent               bool
}

func readCodex(ctx context.Context, f *File, c *collector) error {
	t := &codexThread{c: c}
	return lines(ctx, f, c, func(line []byte) { t.line(line) },
		`"session_meta"`, `"turn_context"`, `_call"`, `_call_output"`, `"CommandExecution"`, `"FileChange"`, `"task_started"`)
}

func (t *codexThread) line(line []byte) {
	kind, _ := rawjson.GetString(line, "type")
	payload := rawjson.Get(line, "payload")
	switch kind {
	case "session_meta":
		t.session, _ = rawjson.GetString(payload, "session_id")
		if t.session == "" {
			t.session, _ = rawjson.GetString(payload, "id")
		}
		t.cwd, _ = rawjson.GetString(payload, "cwd")
		t.subagent = rawjson.Get(rawjson.Get(payload, "source"), "subagent") != nil
	case "turn_context":
		if cwd, ok := rawjson.GetString(payload, "cwd"); ok {
			t.cwd = cwd
		}
		t.approval, _ = rawjson.GetString(payload, "approval_policy")
	case "response_item":
		t.item(line, payload)
	case "event_msg":
		if kind, _ := rawjson.GetString(payload, "type"); kind == "task_started" { // one for each prompt
			t.c.turn++
		}
		t.event(payload)
	}
}

// item reads a call of the model, or the result that it was told.
func (t *codexThread) item(line []byte, payload json.RawMessage) {
	kind, _ := rawjson.GetString(payload, "type")
	id, _ := rawjson.GetString(payload, "call_id")
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		if !json.Valid(line) {
			t.c.skipped++
			return
		}
		when, _ := rawjson.GetString(line, "timestamp")
		call := Call{ID: id, Session: t.session, Time: timeOf(when), Cwd: t.cwd, Subagent: t.subagent}
		call.Tool, _ = rawjson.GetString(payload, "name")
		call.Input = codexInput(kind, payload)
		if kind == "local_shell_call" {
			call.Tool = "local_shell"
		}
		if dir, ok := rawjson.GetString(call.Input, "workdir"); ok && folder(dir) != "" {
			call.Cwd = dir
		}
		if chars, ok := rawjson.GetString(call.Input, "chars"); call.Tool == "write_stdin" && ok && chars == "" {
			return // it only waits for more output
		}
		t.c.call(call)
	case "function_call_output", "custom_tool_call_output":
		t.c.result(id, func(call *Call) { t.output(call, rawjson.Get(payload, "output")) })
	}
}

// codexInput is the arguments of a call as an object.
func codexInput(kind string, payload json.RawMessage) json.RawMessage {
	switch kind {
	case "function_call":
		text, _ := rawjson.GetString(payload, "arguments")
		return json.RawMessage(text)
	case "local_shell_call":
		return only("command", rawjson.Get(rawjson.Get(payload, "action"), "command"))
	}
	text, _ := rawjson.GetString(payload, "input")
	return rawjson.With(nil, rawjson.StringMember("input", text))
}

// texts of outputs. A failed transport reads as a refusal, too.
var (
	codexBlocked  = []byte("blocked by PreToolUse hook")
	codexRejected = []byte("rejected by user")
	codexRisk     = []byte("rejected due to unacceptable risk")
	codexAborted  = []byte("aborted by user")
	codexExited   = []byte("exited with code ")
	codexExit     = []byte("Exit code: ")
)

// output fills in how a call ended by the text that the model was given.
func (t *codexThread) output(call *Call, text json.RawMessage) {
	head := text[:min(len(text), 400)]
	switch {
	case bytes.Contains(head, codexBlocked):
		call.Outcome, call.By = Denied, ByHook
	case bytes.Contains(head, codexRisk):
		call.Outcome, call.By = Denied, ByJudge
	case bytes.Contains(head, codexRejected):
		call.Outcome, call.By = Denied, ByRule
		if t.approval != "never" { // then no question comes
			call.By, call.Prompt = ByPerson, Prompt{Asked: true, Estimated: true}
		}
	case bytes.Contains(head, codexAborted):
		call.Outcome = Failed
	case call.Outcome != "": // known from the command itself
	default:
		if call.Outcome = Ran; codexFailed(head) {
			call.Outcome = Failed
		}
	}
}

func codexFailed(head []byte) bool {
	for _, before := range [][]byte{codexExited, codexExit} {
		if _, after, ok := bytes.Cut(head, before); ok && len(after) > 0 {
			return after[0] != '0'
		}
	}
	return bytes.Contains(head, []byte(" failed: "))
}

// event reads a note of Codex about a command or a patch.
func (t *codexThread) event(payload json.RawMessage) {
	item := rawjson.Get(payload, "item")
	id, _ := rawjson.GetString(item, "id")
	t.c.about(id, func(call *Call) {
		var is struct {
			Status   string
			Cwd      string
			ExitCode *int `json:"exit_code"`
			Duration struct{ Secs, Nanos int64 }
			Command  []string
		}
		for _, name := range []string{"status", "cwd", "exit_code", "duration"} { // not the output
			if v := rawjson.Get(item, name); v != nil {
				_ = json.Unmarshal(only(name, v), &is) // a wrong type tells nothing
			}
		}
		if u, err := url.Parse(is.Cwd); err == nil && u.Scheme == "file" && folder(u.Path) != "" {
			call.Cwd = folder(u.Path)
		}
		switch {
		case is.Status == "declined":
			call.Outcome, call.By, call.Prompt = Denied, ByPerson, Prompt{Asked: true, Estimated: true}
			return
		case is.Status == "failed" || is.ExitCode != nil && *is.ExitCode != 0:
			call.Outcome = Failed
		case is.Status == "completed":
			call.Outcome = Ran
		}
		var from, to int64
		_ = json.Unmarshal(rawjson.Get(payload, "started_at_ms"), &from) // 0 = it is not known
		_ = json.Unmarshal(rawjson.Get(payload, "completed_at_ms"), &to)
		ran := time.Duration(is.Duration.Secs)*time.Second + time.Duration(is.Duration.Nanos)
		waited := time.Duration(to-from)*time.Millisecond - ran
		if from > 0 && waited > codexWait && t.approval != "never" && t.approval != "" {
			call.By, call.Prompt = ByPerson, Prompt{Asked: true, Yes: true, Estimated: true}
		}
	})
}
