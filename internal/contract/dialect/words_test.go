package dialect

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// The output of agents' own hooks, by each form that is documented for the name of the
// event, and how it is read.
func TestAgentsOwnWords(t *testing.T) {
	for _, tt := range []struct{ dialect, event, answer, want string }{
		{"claude-code", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "block: no"},
		{"claude-code", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, "block: no"},
		{"codex", "PermissionRequest", `{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`, "allow"},
		{"claude-code", "PostToolUse", `{"hookSpecificOutput":{"updatedToolOutput":"x"}}`, "rewrite"},
		{"gemini-cli", "BeforeTool", `{"decision":"deny","reason":"no"}`, "block: no"},
		{"gemini-cli", "BeforeTool", `{"decision":"ask","reason":"sure?"}`, "ask"},
		{"gemini-cli", "BeforeTool", `{"decision":"allow"}`, "no opinion"},
		{"gemini-cli", "BeforeTool", `{"hookSpecificOutput":{"tool_input":{"command":"ls"}}}`, "rewrite"},
		{"cursor", "preToolUse", `{"permission":"deny","user_message":"no"}`, "block: no"},
		{"cursor", "beforeShellExecution", `{"permission":"deny","userMessage":"no","agentMessage":"never"}`, "block: no\nnever"},
		{"cursor", "beforeShellExecution", `{"permission":"ask","user_message":"sure?"}`, "ask: sure?"},
		{"cursor", "beforeReadFile", `{"permission":"allow"}`, "allow"},
		{"cursor", "beforeShellExecution", `{"permission":"denied"}`, "failure: invalid permission"},
		{"cursor", "preToolUse", `{"permission":"allow","updated_input":{"command":"ls"}}`, "allow"},
		{"cursor", "beforeSubmitPrompt", `{"continue":false,"user_message":"no"}`, "block: no"},
		{"cursor", "stop", `{"followup_message":"go on"}`, "block: go on"},
		{"cursor", "postToolUse", `{"updated_mcp_tool_output":{"a":1}}`, "rewrite"},
		{"cursor", "sessionStart", `{"additional_context":"x"}`, "allowed, with something to say"},
		{"copilot", "preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, "block: no"},
		{"copilot", "preToolUse", `{"permissionDecision":"allow","modifiedArgs":{"command":"ls"}}`, "allow"},
		{"copilot", "preToolUse", `{"modifiedArgs":{"command":"ls"}}`, "rewrite"},
		{"copilot", "preToolUse", `{"permission":"deny"}`, "block"}, // the name is Cursor's, too
		{"copilot", "permissionRequest", `{"behavior":"deny","message":"no","interrupt":true}`, "block: no"},
		{"copilot", "postToolUse", `{"modifiedResult":{"textResultForLlm":"x"}}`, "rewrite"},
		{"kimi", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny","message":"no"}}`, "block: no"},
		{"cline", "PreToolUse", `{"cancel":true,"errorMessage":"no"}`, "block: no"},
		{"cline", "PreToolUse", `{"cancel":false}`, "no opinion"},
		{"cline", "PreToolUse", `{"cancel":false,"contextModification":"x"}`, "allowed, with something to say"},
		{"cline", "PreToolUse", `{"cancel":"maybe"}`, "failure: invalid cancel"},
		{"cline", "PreToolUse", `{"overrideInput":{"command":"ls"}}`, "rewrite"},
		{"cline", "UserPromptSubmit", `{"cancel":true}`, "block"},
		{"claude-code", "PreToolUse", `{"cancel":true,"errorMessage":"no"}`, "block: no"}, // the name is Cline's, too
		{"antigravity", "PreToolUse", `{"decision":"force_ask","reason":"sure?"}`, "ask: sure?"},
		{"antigravity", "PreToolUse", `{"decision":"deny","reason":"no"}`, "block: no"},
		{"antigravity", "Stop", `{"decision":"continue","reason":"go on"}`, "block: go on"},
		{"antigravity", "PreInvocation", `{"injectSteps":[{"ephemeralMessage":"x"}]}`, "allowed, with something to say"},
		{"hermes", "pre_tool_call", `{"action":"block","message":"no"}`, "block: no"},
		{"hermes", "pre_tool_call", `{"decision":"block","reason":"no"}`, "block: no"},
		{"hermes", "pre_tool_call", `{"action":"approve"}`, "ask"},
		{"hermes", "pre_tool_call", `{"action":"modify","args":{"command":"ls"}}`, "rewrite"},
		{"hermes", "pre_tool_call", `{"action":"blok"}`, "failure: invalid action"},
		{"hermes", "pre_llm_call", `{"context":"x"}`, "allowed, with something to say"},
		{"opencode", "tool.execute.before", `{"args":{"command":"ls"}}`, "rewrite"},
		{"openclaw", "before_tool_call", `{"block":true,"blockReason":"no"}`, "block: no"},
		{"openclaw", "before_tool_call", `{"requireApproval":{"title":"sure?"}}`, "ask: sure?"},
		{"openclaw", "before_tool_call", `{"params":{"command":"ls"}}`, "rewrite"},
		{"docker-agent", "pre_tool_use", `{"verdict":"deny"}`, "failure: its answer says nothing"},
		{"windsurf", "pre_run_command", `{"deny":true}`, "failure: its answer says nothing"},
	} {
		c := events.LookupIn(events.Dialect(tt.dialect), tt.event)
		if c == nil {
			t.Fatalf("%s has no %s", tt.dialect, tt.event)
		}
		p := verdict.Terms{Name: "hook", Blocking: true, Words: Words(c, tt.event)}
		for _, stdout := range []string{tt.answer, "a log line\n" + tt.answer} {
			if stdout != tt.answer && strings.Contains(tt.want, "nothing") {
				continue // text with an unknown object after it is text
			}
			a := verdict.Read(c, p, verdict.Output{Stdout: []byte(stdout)})
			if got := a.String(); got != tt.want && !(strings.HasPrefix(tt.want, "failure") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("%s %s: %q is read as %q, want %q", tt.dialect, tt.event, stdout, got, tt.want)
			}
		}
	}
}
