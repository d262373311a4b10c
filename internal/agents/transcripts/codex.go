package transcripts

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// codex keeps a file for each thread; a subagent is a thread of its own. A person's yes leaves no
// trace: how much longer a command took than it ran is how long it waited for an answer. Nor does a no in
// a terminal, which reads as if a running command was stopped: the note of its end is missing then.
var codex = agent{
	name: "codex", title: "Codex", prompts: Estimated, depth: 5,
	roots: func(p places) []string {
		return []string{p.own("codex", "sessions"), p.own("codex", "archived_sessions")}
	},
	is:   func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read: readCodex,
}

// codexWait is how long a call waits that a person was probably asked about.
const codexWait = 1500 * time.Millisecond

// codexThread has the facts about a call from the lines before it.
type codexThread struct {
	c                  *collector
	session, cwd       string
	approval, reviewer string
	subagent           bool
}

func readCodex(ctx context.Context, f *File, c *collector) error {
	t := &codexThread{c: c}
	return lines(ctx, f, c, func(line []byte) { t.line(line) },
		`"session_meta"`, `"turn_context"`, `_call"`, `_call_output"`, `"CommandExecution"`, `"FileChange"`, `"task_started"`)
}

func (t *codexThread) line(line []byte) {
	kind := rawjson.StringIn(line, "type")
	payload := rawjson.Get(line, "payload")
	switch kind {
	case "session_meta":
		t.session = rawjson.StringIn(payload, "session_id")
		if t.session == "" {
			t.session = rawjson.StringIn(payload, "id")
		}
		t.cwd = rawjson.StringIn(payload, "cwd")
		t.subagent = rawjson.Get(rawjson.Get(payload, "source"), "subagent") != nil
	case "turn_context":
		if cwd, ok := rawjson.GetString(payload, "cwd"); ok {
			t.cwd = cwd
		}
		var is bool
		if t.approval, is = rawjson.GetString(payload, "approval_policy"); !is { // it is one for each kind of question
			t.approval = string(rawjson.Get(payload, "approval_policy"))
		}
		t.reviewer = rawjson.StringIn(payload, "approvals_reviewer")
	case "response_item":
		t.item(line, payload)
	case "event_msg":
		if rawjson.StringIn(payload, "type") == "task_started" { // one for each prompt
			t.c.turn++
		}
		t.event(payload)
	}
}

// item reads a call of the model, or the result that it was told.
func (t *codexThread) item(line []byte, payload json.RawMessage) {
	kind := rawjson.StringIn(payload, "type")
	id := rawjson.StringIn(payload, "call_id")
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		if !json.Valid(line) {
			t.c.skipped++
			return
		}
		when := rawjson.StringIn(line, "timestamp")
		call := Call{ID: id, Session: t.session, Time: timeOf(when), Cwd: t.cwd, Subagent: t.subagent}
		call.Tool = rawjson.StringIn(payload, "name")
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
		own, ran := codexOwn(rawjson.Get(payload, "output"))
		if strings.HasSuffix(own, `aborted by user"`) { // a command may run on, and its end is noted later
			t.c.about(id, t.aborted)
			return
		}
		t.c.result(id, func(call *Call) { t.output(call, own, ran) })
	}
}

// codexInput is the arguments of a call as an object.
func codexInput(kind string, payload json.RawMessage) json.RawMessage {
	switch kind {
	case "function_call":
		return json.RawMessage(rawjson.StringIn(payload, "arguments"))
	case "local_shell_call":
		return only("command", rawjson.Get(rawjson.Get(payload, "action"), "command"))
	}
	return rawjson.With(nil, rawjson.StringMember("input", rawjson.StringIn(payload, "input")))
}

// codexRefusals are the texts that begin the output of a call that did not run, and who refused it. A failed
// transport reads as a refusal by a person, too.
var codexRefusals = []codexRefusal{
	{"Command blocked by PreToolUse hook", ByHook}, {"Tool call blocked by PreToolUse hook", ByHook},
	{"This action was rejected due to unacceptable risk", ByJudge}, {"Automatic approval review ", ByJudge},
	{"Automated review of ", ByJudge},
	{"rejected by user approval settings", ByRule}, {"rejected by user", ByPerson}, {"patch rejected by user", ByPerson},
	{"exec command rejected by user", ByPerson}, {"user rejected MCP tool call", ByPerson},
	{"user cancelled MCP tool call", ByPerson}, {"patch rejected: ", ByRule}, {"write_stdin rejected: ", ByRule},
	{"approval policy is ", ByRule}, {"MCP tool call requires approval", ByRule}, {"MCP tool call blocked ", ByRule},
	{"MCP tool call cancelled", ByDefault}, {"unsupported call: ", ""}, {"unsupported custom tool call: ", ""},
	{"failed to parse function arguments: ", ""},
}

type codexRefusal struct {
	text string
	by   Decider
}

// codexHeads begin the output of a call that ran, before its own words.
var codexHeads = []string{`Chunk ID: `, `Exit code: `, `Wall time: `, `{"output":`}

// codexRejected stands before the reason where a command was not started.
const codexRejected = `CreateProcess { message: "Rejected("`

// codexOwn is the beginning of the text that Codex itself wrote about a call, without escapes; ran says that
// the call did.
func codexOwn(output json.RawMessage) (own string, ran bool) {
	if list := elements(output); len(list) > 0 {
		output = rawjson.Get(list[0], "text")
	} else if content := rawjson.Get(output, "content"); content != nil {
		output = content
	}
	head := strings.ReplaceAll(string(output[:min(len(output), 400)]), `\`, "")
	head = strings.TrimPrefix(head, `"`)
	for _, begins := range codexHeads {
		if strings.HasPrefix(head, begins) {
			own, _, _ = strings.Cut(head, "nOutput:n")
			if begins == codexHeads[3] { // of older versions: the exit code stands last
				own = strings.ReplaceAll(string(output[max(0, len(output)-200):]), `\`, "")
			}
			return own, true
		}
	}
	return head, false
}

// output fills in how a call ended by the text that the model was given.
func (t *codexThread) output(call *Call, own string, ran bool) {
	switch {
	case !ran && t.refused(call, own):
	case call.Outcome != "": // known from the command itself
	case ran && codexFailed(own), !ran && (strings.HasPrefix(own, "failed ") ||
		strings.Contains(own, " failed: ")):
		call.Outcome = Failed
	default:
		call.Outcome = Ran
	}
}

// refused reports whether the text says that a call did not run, and fills in who refused it.
func (t *codexThread) refused(call *Call, own string) bool {
	reason := own
	_, rejected, is := strings.Cut(own, codexRejected)
	if is {
		reason = rejected
	}
	by := ByRule
	i := slices.IndexFunc(codexRefusals, func(r codexRefusal) bool { return strings.HasPrefix(reason, r.text) })
	if i < 0 && !is {
		return false
	}
	if i >= 0 {
		by = codexRefusals[i].by
	}
	call.Outcome, call.By, call.Prompt = Denied, by, Prompt{}
	if by == ByPerson {
		t.person(call, false)
	}
	return true
}

// aborted notes that a person stopped a call: before it ran, which is a no, unless its end is noted later.
func (t *codexThread) aborted(call *Call) {
	switch {
	case call.Outcome != "":
	case t.approval == "never" || t.reviewer != "" && t.reviewer != "user":
		call.Outcome = Failed
	default:
		call.Outcome = Denied
		t.person(call, false)
	}
}

// person notes the answer of a person, where the policy lets one be asked.
func (t *codexThread) person(call *Call, yes bool) {
	call.By, call.Prompt = ByPerson, Prompt{Asked: true, Yes: yes, Estimated: true}
	switch {
	case t.approval == "never":
		call.By, call.Prompt = ByRule, Prompt{}
	case t.reviewer != "" && t.reviewer != "user":
		call.By, call.Prompt = ByJudge, Prompt{}
	}
}

// codexFailed reports whether a call that ran says that it failed.
func codexFailed(own string) bool {
	for _, before := range []string{"exited with code ", "Exit code: ", `"exit_code":`} {
		if _, code, ok := strings.Cut(own, before); ok && code != "" {
			return code[0] != '0'
		}
	}
	return false
}

// event reads a note of Codex about a command or a patch.
func (t *codexThread) event(payload json.RawMessage) {
	item := rawjson.Get(payload, "item")
	t.c.about(rawjson.StringIn(item, "id"), func(call *Call) {
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
		call.By, call.Prompt = "", Prompt{}
		switch {
		case is.Status == "declined":
			call.Outcome = Denied
			t.person(call, false)
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
			t.person(call, true)
		}
	})
}
