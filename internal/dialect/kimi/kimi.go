// Package kimi speaks Kimi Code's dialect (reference/dialects.md A8). It is
// pure. "No opinion" is an empty stdout; a prompt or a stop is blocked by exit
// code 2 alone.
package kimi

import (
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
)

// Agent is Kimi Code. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(30 * time.Second), Foreign: true, Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_call_id", Fact: neutral.Call},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "error", Fact: neutral.ErrorText, Events: "PostToolUseFailure"},
			{Field: "error_type", Fact: neutral.ErrorType},
			{Field: "error_message", Fact: neutral.ErrorText},
			{Field: "prompt", Fact: neutral.Prompt, Form: neutral.Parts},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "agent_name", Fact: neutral.AgentType},
			{Field: "response", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "model", Fact: neutral.Model},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "title", Fact: neutral.Title},
			{Field: "body", Fact: neutral.Text},
		},
		Fixed: []neutral.Fixed{{Events: "PostToolUseFailure StopFailure", Fact: neutral.Failed, Value: "true"}},
		Tools: []neutral.ToolName{
			{Own: "Shell", Canonical: "Bash", OneWay: true},
			{Own: "ReadFile", Canonical: "Read", Args: "path=file_path", OneWay: true},
			{Own: "WriteFile", Canonical: "Write", Args: "path=file_path", OneWay: true},
			{Own: "StrReplaceFile", Canonical: "Edit", Args: "path=file_path", OneWay: true},
			{Own: "FetchURL", Canonical: "WebFetch", OneWay: true},
			{Own: "SearchWeb", Canonical: "WebSearch", OneWay: true},
			{Own: "SetTodoList", Canonical: "TodoWrite", OneWay: true},
			{Own: "Task", Canonical: "Agent", OneWay: true},
		},
	}
}

// Answer writes what Kimi Code reads (reference/dialects.md A8, B3).
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("PreToolUse") && a.Denies():
		return neutral.Say("", neutral.Member("hookSpecificOutput",
			neutral.Str("hookEventName", a.Event), neutral.Str("permissionDecision", "deny"), neutral.Str("permissionDecisionReason", a.Reason())))
	case a.Is("UserPromptSubmit") && a.Denies(), a.Is("Stop") && a.Denies() && a.Verdict.Continue:
		return neutral.Reply{Stderr: a.Reason(), Exit: 2}
	case a.Is("UserPromptSubmit"):
		return neutral.Reply{Stdout: a.Verdict.AdditionalContext}
	}
	return neutral.Reply{}
}
