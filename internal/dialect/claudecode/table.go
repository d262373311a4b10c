// Package claudecode speaks Claude Code's dialect (reference/dialects.md A1):
// which facts its payloads hold, and the bytes that it reads as an answer. All
// of it is pure. "No opinion" is an empty stdout; an allow is written only
// when a hook said so, or with a rewrite, which Claude Code takes in no other
// way.
package claudecode

import (
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
)

// Agent is Claude Code.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: timeout,
		Asks: "PreToolUse PermissionRequest", ResultField: "tool_response", Replaces: neutral.On("PostToolUse"),
		Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "prompt_id", Fact: neutral.Turn},
			{Field: "turn_id", Fact: neutral.Turn},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "permission_mode", Fact: neutral.Mode},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_type", Fact: neutral.AgentType},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "model", Fact: neutral.Model},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "permission_suggestions", Fact: neutral.Suggestions},
			{Field: "error", Fact: neutral.ErrorText, Events: "PostToolUseFailure"},
			{Field: "is_interrupt", Fact: neutral.Interrupted},
			{Field: "error", Fact: neutral.ErrorType, Events: "StopFailure"},
			{Field: "error_details", Fact: neutral.ErrorText, Events: "StopFailure"},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "last_assistant_message", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "custom_instructions", Fact: neutral.Instructions},
			{Field: "compact_summary", Fact: neutral.Summary},
			{Field: "message", Fact: neutral.Text},
			{Field: "title", Fact: neutral.Title},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "file_path", Fact: neutral.File},
		},
		Fixed: []neutral.Fixed{{Events: "PostToolUseFailure StopFailure", Fact: neutral.Failed, Value: "true"}},
		Tools: []neutral.ToolName{{Own: "Task", Canonical: "Agent", OneWay: true}},
	}
}

// timeout is Claude Code's default (A1).
func timeout(event string) time.Duration {
	switch event {
	case "UserPromptSubmit":
		return 30 * time.Second
	case "MessageDisplay":
		return 10 * time.Second
	case "SessionEnd":
		return 1500 * time.Millisecond
	}
	return 600 * time.Second
}
