package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/wire"
)

func TestPathIsCleaned(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	env, left := inherited(map[string]string{"PATH": ":/bin::x:" + open + ":/usr/bin:"}, "", false)
	if got := variable(env, "PATH"); got != "/bin:/usr/bin" {
		t.Errorf("hooks inherit PATH=%s", got)
	}
	if len(left) != 1 || left[0].Path != open {
		t.Errorf("left out: %v", left)
	}
}

func TestUnaddressed(t *testing.T) {
	for _, c := range []struct{ whole, want string }{
		{``, ``},
		{`{"event_id":"E"}`, `{}`},
		{`{"event_id":"E","a":1}`, `{"a":1}`},
		{`{"event_id":"other","a":"E"}`, `{"event_id":"other","a":"E"}`},
		{`{"event_id":"E","hook_event_name":"x"}`, `{"event_id":"E","hook_event_name":"x"}`},
		{`text E`, `text E`},
		{`{"event_id":"E"`, `{"event_id":"E"`},
	} {
		if got := string(withoutEventID([]byte(c.whole), "E")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.whole, got, c.want)
		}
	}
}

// With reload.mode ask a hook does not inherit a variable that makes its interpreter load
// code; one of the settings, which were allowed, counts.
func TestCodeOfTheEnvironment(t *testing.T) {
	load := []string{
		"BASH_ENV", "LD_PRELOAD", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PERL5OPT", "BASH_FUNC_ls%%", "CORECLR_PROFILER",
		"npm_config_script_shell", "SYSTEMD_PAGER", "MAKEFILES",
	}
	for _, name := range append(load, "NODE_OPTIONS") {
		t.Setenv(name, "/tmp/code")
	}
	t.Setenv("PYTHONUNBUFFERED", "1")
	t.Setenv("LANG", "C")
	given := map[string]string{"NODE_OPTIONS": "--max-old-space-size=100"}
	env, _ := inherited(given, "", true)
	wanted := map[string]string{"NODE_OPTIONS": given["NODE_OPTIONS"], "LANG": "C", "PYTHONUNBUFFERED": "1"}
	for _, name := range load {
		wanted[name] = ""
	}
	for name, want := range wanted {
		if got := variable(env, name); got != want {
			t.Errorf("hooks inherit %s=%s, want %q", name, got, want)
		}
	}
	if env, _ = inherited(nil, "", false); variable(env, "BASH_ENV") != "/tmp/code" {
		t.Error("BASH_ENV is gone, though hooks do not wait to be allowed")
	}
}

func readRules(t *testing.T, text string) *rules.Set {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	set, problems := rules.Read(doc.Content[0], nil, rules.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return set
}

// A rule's rewrite is a denial for an agent that would run the old line.
func TestRewriteThatTheAgentDoesNotTakeDenies(t *testing.T) {
	set := readRules(t, "- rewrite: npm install\n  to: npm ci\n  why: the lock file decides")
	see := &sight{facts: &facts.Reader{Home: "/home/u"}}
	for agent, want := range map[events.Dialect]string{
		"claude-code": `"updated_input":{"command":"cd x \u0026\u0026 npm ci"}`,
		"codex":       `"permission_decision":"deny","permission_decision_reason":"the lock file decides (rule rewrite npm install: npm install). Instead: cd x && npm ci. Do not`,
	} {
		e := &events.Event{
			Envelope: events.Envelope{Event: "PreToolUse", Dialect: agent, Cwd: "/src", Data: json.RawMessage(
				`{"hook_event_name":"PreToolUse","cwd":"/src","tool_name":"Bash","tool_input":{"command":"cd x && npm install"}}`)},
			Contract: events.For(agent, "PreToolUse"),
		}
		call := dialect.Call(e)
		answer, err := ruled(e, call, taken(e, call, set.Judge(see.subjectOf(e, call, ""))))
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: got %s %v, want %s", agent, answer, err, want)
		}
	}
}

// A condition on data finds the arguments of a call by Claude Code's names, whichever agent makes the call.
func TestDataOfEachAgentByTheSameNames(t *testing.T) {
	set := readRules(t, "- deny: {data.tool_input.command: '*word*'}")
	see := &sight{facts: &facts.Reader{Home: "/home/u"}}
	for _, tt := range []struct{ agent, event, data string }{
		{"claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"a word"}}`},
		{"codex", "PreToolUse", `{"tool_name":"exec_command","tool_input":{"cmd":"a word"}}`},
		{"copilot", "preToolUse", `{"toolName":"bash","toolArgs":"{\"command\":\"a word\"}"}`},
		{"cline", "PreToolUse", `{"preToolUse":{"toolName":"execute_command","parameters":{"command":"a word"}}}`},
		{"cursor", "beforeShellExecution", `{"command":"a word"}`},
		{"antigravity", "PreToolUse", `{"toolCall":{"name":"run_command","args":{"CommandLine":"a word"}}}`},
	} {
		e := &events.Event{
			Envelope: events.Envelope{Event: tt.event, Dialect: events.Dialect(tt.agent), Data: json.RawMessage(tt.data)},
			Contract: events.For(events.Dialect(tt.agent), tt.event),
		}
		if v := set.Judge(see.subjectOf(e, dialect.Call(e), "")); v.Action != rules.Deny {
			t.Errorf("%s: %q", tt.agent, v.Action)
		}
	}
}

// memoryLog is a Log in memory.
type memoryLog struct{ lines [][]byte }

func (k *memoryLog) Add(_ int, line func() []byte) { k.lines = append(k.lines, line()) }
func (k *memoryLog) Clear()                        { k.lines = nil }
func (k *memoryLog) Read(each func([]byte)) error {
	for _, line := range k.lines {
		each(line)
	}
	return nil
}

// The session of a subagent is part of the session that has started it, also in a later process.
func TestSessionOfASubagentIsItsParents(t *testing.T) {
	event := func(name, session, data string) *events.Event {
		return &events.Event{Envelope: events.Envelope{Event: name, Dialect: "opencode", SessionID: session, Data: json.RawMessage(
			data)}, Contract: events.For("opencode", name)}
	}
	log := &memoryLog{}
	p := &Past{sight: sight{facts: &facts.Reader{Home: "/home/u"}}, lines: log}
	if got := p.session(event("subagent.created", "child", `{"sessionID":"child","parentID":"top"}`)); got != "opencode top" {
		t.Errorf("a child's start is of the session %q", got)
	}
	if got := p.session(event("subagent.created", "grandchild", `{"sessionID":"grandchild","parentID":"child"}`)); got != "opencode top" {
		t.Errorf("a grandchild's start is of the session %q", got)
	}
	later := &Past{sight: p.sight, lines: log}
	if err := later.read(func(*rules.Moment) { t.Error("a moment is made of it") }); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]string{"grandchild": "opencode top", "other": "opencode other"} {
		call := event("tool.execute.before", session, `{"tool":"bash","args":{"command":"ls"}}`)
		if got := later.session(call); got != want {
			t.Errorf("a call of %s is of the session %q, want %q", session, got, want)
		}
	}
}

// A call that no event announced counts from its end on, also in a later process, and the end of a denied call
// counts in neither.
func TestEndOfACallThatWasNotAnnounced(t *testing.T) {
	log, set := &memoryLog{}, readRules(t, "- deny: git push\n  unless: {ran: make test, ok: true, since: edit}\n  why: x")
	hooks := []*hook.Hook{{Rules: set}}
	event := func(name, call, data string) *events.Event {
		return &events.Event{Envelope: events.Envelope{Event: name, Dialect: "claude-code", SessionID: "s", Cwd: "/src",
			Data: json.RawMessage(data)}, EventID: name + call, Time: time.Now(), CallID: call, Contract: events.For("claude-code", name)}
	}
	start := func() *Past {
		p := &Past{sight: sight{facts: &facts.Reader{Home: "/home/u"}}, lines: log, log: zap.NewNop()}
		p.history = rules.NewHistory(p.keep)
		p.Use(hooks)
		return p
	}
	const edit, test, push = `{"tool_name":"Edit","tool_input":{"file_path":"/src/a","old_string":"a","new_string":"b"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"make test"}}`, `{"tool_name":"Bash","tool_input":{"command":"git push"}}`
	n := 0
	judged := func(p *Past, want rules.Action) {
		t.Helper()
		n++
		e := event("PreToolUse", fmt.Sprint("push", n), push)
		end := p.Begin(e, true)
		subject := p.subjectOf(e, dialect.Call(e), "/src")
		if subject.Before = e.Before.(*glance).Before; set.Judge(subject).Action != want {
			t.Errorf("the push is judged %q, want %q", set.Judge(subject).Action, want)
		}
		end(wire.OutcomeDeny)
	}
	p := start()
	p.Begin(event("PreToolUse", "c1", test), true)(wire.OutcomeNone)
	p.Begin(event("PostToolUse", "c1", test), true)
	judged(p, "")
	p.Begin(event("PreToolUse", "c2", edit), true)(wire.OutcomeDeny)
	p.Begin(event("PostToolUse", "c2", edit), true)
	judged(p, "")
	judged(start(), "")
	p = start()
	p.Begin(event("PostToolUse", "c2", edit), true)
	judged(p, "")
	p.Begin(event("PostToolUse", "c3", edit), true)
	judged(p, rules.Deny)
	judged(start(), rules.Deny)
}

// A prompt or a start of a subagent is an agent's: neither is a boundary, as a person's is.
func TestSubagentsPromptIsNoPersons(t *testing.T) {
	p := &Past{sight: sight{facts: &facts.Reader{Home: "/home/u"}}, lines: &memoryLog{}}
	kind := func(d events.Dialect, name, session, data string) rules.MomentKind {
		m, _ := p.moment(&events.Event{Envelope: events.Envelope{
			Event: name, Dialect: d, SessionID: session, Data: json.RawMessage(data),
		}, Contract: events.For(d, name)})
		return m.Kind
	}
	for _, tt := range []struct {
		dialect             events.Dialect
		name, session, data string
		want                rules.MomentKind
	}{
		{"codex", "UserPromptSubmit", "s", `{"session_id":"s","prompt":"go on"}`, rules.Typed},
		{"codex", "UserPromptSubmit", "s", `{"session_id":"s","agent_id":"a","agent_type":"default","prompt":"go on"}`, ""},
		{"codex", "SessionStart", "s", `{"session_id":"s","source":"startup"}`, rules.Began},
		{"claude-code", "UserPromptSubmit", "s", `{"session_id":"s","prompt":"go on"}`, rules.Typed},
		{"claude-code", "SessionStart", "s", `{"session_id":"s","source":"startup","agent_type":"mine"}`, rules.Began},
		{"claude-code", "UserPromptSubmit", "s", `{"session_id":"s","prompt":"<task-notification>\n<task-id>a</task-id>"}`, ""},
		{"openclaw", "before_prompt_build", "s", `{"prompt":"go on","sessionKey":"agent:main:main","trigger":"user"}`, rules.Typed},
		{"openclaw", "before_prompt_build", "s", `{"prompt":"go on","sessionKey":"agent:main:subagent:1"}`, ""},
		{"openclaw", "before_prompt_build", "s", `{"prompt":"go on","sessionKey":"agent:main:main","trigger":"cron"}`, ""},
	} {
		if got := kind(tt.dialect, tt.name, tt.session, tt.data); got != tt.want {
			t.Errorf("%s %s %s is %q, want %q", tt.dialect, tt.name, tt.data, got, tt.want)
		}
	}
	p.join("opencode child", "opencode top", false)
	if got := kind("opencode", "chat.message", "child", `{"sessionID":"child"}`); got != "" {
		t.Errorf("a prompt in a child's session is %q", got)
	}
}
