package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// everyPart is each kind of answer, with the text that the agent has to be given
// and the word of the warning where it is not.
var everyPart = []struct {
	name   string
	answer verdict.Answer
	text   string
}{
	{"permission_decision", verdict.Answer{PermissionDecision: "allow"}, ""},
	{"updated_input", verdict.Answer{UpdatedInput: json.RawMessage(`{"command":"the text"}`)}, "the text"},
	{"updated_input", verdict.Answer{UpdatedInput: json.RawMessage(`{"command":"the text"}`), PermissionDecision: "allow"}, "the text"},
	{"updated_tool_response", verdict.Answer{UpdatedResponse: json.RawMessage(`"the text"`)}, "the text"},
	{"updated_messages", verdict.Answer{UpdatedMessages: json.RawMessage(`["the text"]`)}, "the text"},
	{"additional_context", verdict.Answer{Context: "the text"}, "the text"},
	{"additional_context", verdict.Answer{PlainText: "the text"}, "the text"},
	{"summary", verdict.Answer{Summary: "the text"}, "the text"},
	{"metadata", verdict.Answer{Metadata: map[string]string{"k": "the text"}}, "the text"},
	{"system_message", verdict.Answer{SystemMessage: "the text"}, "the text"},
	{"a denial", verdict.Answer{ExitCode: 2, Stderr: "the text", Blocked: true}, "the text"},
	{"a denial", verdict.Answer{PermissionDecision: "deny", PermissionReason: "the text", Blocked: true}, "the text"},
	{"permission_decision", verdict.Answer{PermissionDecision: "ask", PermissionReason: "the text"}, "the text"},
}

// Whatever a hook answers to whichever event of whichever agent: the agent reads it, or
// a warning names the lost part.
func TestNothingIsLostInSilence(t *testing.T) {
	delivered, warned := 0, 0
	for _, row := range events.All() {
		agent := Agent(row.Dialect)
		if agent == nil || agent.Answer == nil || !row.Decidable {
			continue
		}
		e := event(t, row.Dialect, row.Name, `{"tool_name":"MCP:x","tool_input":{"command":"ls"},"tool_call":{"name":"execute_command","input":{"command":"ls"}}}`)
		for _, tt := range everyPart {
			a := tt.answer
			a.Terms = verdict.Terms{Name: "hook", Blocking: true}
			read := reads(row, agent, e, a)
			warnings := a.WarnedOfIgnored(row).Warned(Undelivered(e, row, a)...).Warning
			switch {
			case tt.text == "" && read != reads(row, agent, e, verdict.Answer{Terms: a.Terms}), tt.text == "" && strings.Contains(read, "allow"):
				delivered++ // an approval has no text of its own
			case tt.text != "" && strings.Contains(read, tt.text):
				delivered++
				if strings.Contains(warnings, tt.name+" was ignored") {
					t.Errorf("%s %s: the agent reads %s, and a warning says %q", row.Dialect, row.Name, read, warnings)
				}
			case decides(a) && read != reads(row, agent, e, verdict.Answer{Terms: a.Terms}):
				delivered++ // in the agent's word for it, which takes no reason, or a content guard's must stay secret
			case decides(a) && row.Decision == events.DecisionPermission && a.PermissionDecision == "ask":
				delivered++ // the agent asks without being told
			case a.PlainText != "" && row.PlainText != events.PlainContext: // which is no answer there
			case !strings.Contains(warnings, tt.name):
				t.Errorf("%s %s: %s is lost in silence: the agent reads %q, the warnings are %q", row.Dialect, row.Name, tt.name, read, warnings)
			default:
				warned++
			}
		}
	}
	if delivered < 100 || warned < 100 {
		t.Errorf("%d parts delivered, %d warned of: the test is not about much", delivered, warned)
	}
}

func decides(a verdict.Answer) bool { return a.Blocked || a.PermissionDecision == "ask" }

// reads returns the text that the agent is given for the answer of one hook.
func reads(row *events.Contract, agent *neutral.Agent, e *events.Event, a verdict.Answer) string {
	asked := neutral.Asked{Event: row.Name, Payload: e.Data, Verdict: verdict.Fold(row, e.Data, []verdict.Answer{a})}
	if asked.Asks() && !asked.Is(agent.Asks) { // which the bridge makes a denial
		asked.Verdict.Allowed, asked.Verdict.Message = false, asked.Reason()
	}
	r := agent.Answer(asked)
	if r.Exit == 0 {
		r.Stderr = "" // which no agent reads then
	}
	return r.Stdout + r.Stderr
}

// Warnings about some parts that are known to be lost.
func TestUndelivered(t *testing.T) {
	rewrite := verdict.Answer{UpdatedInput: json.RawMessage(`{"command":"x"}`)}
	for _, tt := range []struct {
		dialect events.Dialect
		event   string
		answer  verdict.Answer
		want    string // "" = nothing is lost
	}{
		{events.Codex, "PreToolUse", rewrite, "updated_input was ignored: codex takes it only from a hook that also allows the call"},
		{events.ClaudeCode, "PreToolUse", rewrite, ""},
		{events.Kimi, "PreToolUse", verdict.Answer{SystemMessage: "m"}, "system_message was ignored: kimi takes none with PreToolUse"},
		{events.Windsurf, "pre_run_command", verdict.Answer{SystemMessage: "m"}, "system_message was ignored: windsurf takes none with pre_run_command"},
		{events.DockerAgent, "pre_tool_use", verdict.Answer{SystemMessage: "m"}, ""},
		{events.Kimi, "PreToolUse", verdict.Answer{SystemMessage: "m", Skip: true}, ""},
		{events.OpenClaw, "before_tool_call", verdict.Answer{SystemMessage: "m"}, "system_message was ignored: openclaw takes none with before_tool_call"},
		{events.OpenClaw, "before_tool_call", rewrite, ""},
		{events.Copilot, "PreToolUse", verdict.Answer{SystemMessage: "m"}, ""}, // under Claude Code's names it is told as that is
		{events.Kimi, "PreToolUse", verdict.Answer{ExitCode: 2, Blocked: true, SystemMessage: "m"}, ""},
		{"", "unknown.event", verdict.Answer{SystemMessage: "m"}, ""},
	} {
		e := event(t, tt.dialect, tt.event, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`)
		tt.answer.Terms = verdict.Terms{Name: "hook", Blocking: true}
		if got := strings.Join(Undelivered(e, e.Contract, tt.answer), "\n"); got != tt.want {
			t.Errorf("%s %s %v: got %q, want %q", tt.dialect, tt.event, tt.answer.String(), got, tt.want)
		}
	}
}
