// Package codex speaks OpenAI Codex's dialect (reference/dialects.md A2). It is
// pure. Codex refuses an answer with a word that it does not know, and then
// the tool runs, so each answer holds only what that event takes. "No opinion"
// is an empty stdout.
package codex

import (
	"cmp"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Agent is Codex. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: timeout, Asks: "PermissionRequest",
		ResultField: "tool_response", Replaces: neutral.On("PostToolUse"), Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "turn_id", Fact: neutral.Turn},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "model", Fact: neutral.Model},
			{Field: "permission_mode", Fact: neutral.Mode},
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_type", Fact: neutral.AgentType},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "last_assistant_message", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
		},
		Fixed: []neutral.Fixed{{Events: "Interrupt", Fact: neutral.Interrupted, Value: "true"}},
		Tools: []neutral.ToolName{
			{Own: "shell", Canonical: "Bash", OneWay: true},
			{Own: "local_shell", Canonical: "Bash", OneWay: true},
			{Own: "exec_command", Canonical: "Bash", Args: "cmd=command", OneWay: true},
			{Own: "apply_patch", Canonical: "Edit", OneWay: true},
			{Own: "apply_patch", Canonical: "Write", OneWay: true},
			{Own: "update_plan", Canonical: "TodoWrite"},
			{Own: "spawn_agent", Canonical: "Agent"},
		},
	}
}

// timeout is Codex's default (A2).
func timeout(event string) time.Duration {
	switch event {
	case "SessionEnd", "Interrupt":
		return time.Second
	}
	return 600 * time.Second
}

// Events by how they are told no.
const (
	byDecision = "UserPromptSubmit PostToolUse Stop SubagentStop"
	byContinue = "SessionStart PreCompact PostCompact"
	canStop    = byDecision + " " + byContinue
	takesText  = "SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart"
)

// Answer writes what Codex reads (reference/dialects.md A2, B3).
func Answer(a neutral.Asked) neutral.Reply {
	var top []events.Member
	if stops := a.Denies() && a.Is(byContinue) || !a.Verdict.Continue && a.Is(canStop); stops {
		top = append(top, neutral.Bool("continue", false), neutral.Str("stopReason", cmp.Or(a.Verdict.StopReason, a.Reason())))
	}
	switch {
	case a.Is(byDecision) && a.Denies():
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("PostToolUse") && a.Verdict.UpdatedToolResponse != nil:
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", newResult(a)))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("systemMessage", a.Verdict.SystemMessage))
	}
	if inner := specific(a); len(inner) > 0 {
		inner = append([]events.Member{neutral.Str("hookEventName", a.Event)}, inner...)
		top = append(top, neutral.Member("hookSpecificOutput", inner...))
	}
	return neutral.Say("", top...)
}

// newResult is the text that replaces a result: Codex takes it as the reason
// of a block, which must not be empty.
func newResult(a neutral.Asked) string {
	return cmp.Or(neutral.ResultText(a.Verdict.UpdatedToolResponse), "(a hook removed the tool's result)")
}

func specific(a neutral.Asked) []events.Member {
	var inner []events.Member
	switch {
	case a.Is("PreToolUse") && a.Denies():
		inner = append(inner, neutral.Str("permissionDecision", "deny"), neutral.Str("permissionDecisionReason", a.Reason()))
	case a.Is("PreToolUse") && a.Rewrites():
		inner = append(inner, neutral.Str("permissionDecision", "allow"), neutral.Raw("updatedInput", a.Verdict.UpdatedInput))
	case a.Is("PermissionRequest") && a.Denies():
		inner = append(inner, neutral.Member("decision", neutral.Str("behavior", "deny"), neutral.Str("message", a.Reason())))
	case a.Is("PermissionRequest") && a.Allows():
		inner = append(inner, neutral.Member("decision", neutral.Str("behavior", "allow")))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		inner = append(inner, neutral.Str("additionalContext", text))
	}
	return inner
}
