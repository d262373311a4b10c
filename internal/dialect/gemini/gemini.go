// Package gemini speaks Gemini CLI's dialect (reference/dialects.md A3). It is
// pure. Gemini CLI takes what is on stderr for the answer when stdout is
// empty, so every answer is an object, and "no opinion" is {}.
package gemini

import (
	"cmp"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Agent is Gemini CLI.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second), Asks: "BeforeTool",
		Quiet: true, ResultField: "tool_response", Replaces: neutral.On("AfterTool"), Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_call_id", Fact: neutral.Call},
			{Field: "mcp_context.server_name", Fact: neutral.MCPServer},
			{Field: "mcp_context.tool_name", Fact: neutral.MCPTool},
			{Field: "tool_response.error", Fact: neutral.ErrorText},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "llm_request.model", Fact: neutral.Model},
			{Field: "llm_request.messages", Fact: neutral.Messages},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "prompt_response", Fact: neutral.Answer},
			{Field: "llm_response.text", Fact: neutral.Answer},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "message", Fact: neutral.Text},
		},
		Tools: []neutral.ToolName{
			{Own: "run_shell_command", Canonical: "Bash"},
			{Own: "read_file", Canonical: "Read", Args: "file_path=file_path absolute_path=file_path"},
			{Own: "read_many_files", Canonical: "Read", OneWay: true},
			{Own: "write_file", Canonical: "Write"},
			{Own: "replace", Canonical: "Edit"},
			{Own: "glob", Canonical: "Glob"},
			{Own: "grep_search", Canonical: "Grep"},
			{Own: "search_file_content", Canonical: "Grep", OneWay: true},
			{Own: "grep", Canonical: "Grep", OneWay: true},
			{Own: "list_directory", Canonical: "LS", Args: "dir_path=path"},
			{Own: "ls", Canonical: "LS", OneWay: true},
			{Own: "web_fetch", Canonical: "WebFetch"},
			{Own: "google_web_search", Canonical: "WebSearch"},
			{Own: "write_todos", Canonical: "TodoWrite"},
			{Own: "ask_user", Canonical: "AskUserQuestion"},
		},
	}
}

// Events by what they take.
const (
	canBlock  = "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel"
	takesText = "SessionStart BeforeAgent AfterTool"
)

// Answer writes what Gemini CLI reads (reference/dialects.md A3, B3).
func Answer(a neutral.Asked) neutral.Reply {
	var top []events.Member
	if !a.Verdict.Continue && a.Is(canBlock) {
		top = append(top, neutral.Bool("continue", false), neutral.Str("stopReason", cmp.Or(a.Verdict.StopReason, a.Reason())))
	}
	switch {
	case a.Is(canBlock) && a.Denies():
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", a.Reason()))
	case a.Is("BeforeTool") && a.Asks():
		top = append(top, neutral.Str("decision", "ask"), neutral.Str("reason", a.Reason()))
	case a.Is("AfterTool") && a.Verdict.UpdatedToolResponse != nil:
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", newResult(a)))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("systemMessage", a.Verdict.SystemMessage))
	}
	var inner []events.Member
	if a.Is("BeforeTool") && a.Rewrites() {
		inner = append(inner, neutral.Raw("tool_input", a.Verdict.UpdatedInput))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		inner = append(inner, neutral.Str("additionalContext", text))
	}
	if len(inner) > 0 {
		inner = append([]events.Member{neutral.Str("hookEventName", a.Event)}, inner...)
		top = append(top, neutral.Member("hookSpecificOutput", inner...))
	}
	return neutral.Say("{}", top...)
}

// newResult is the text that replaces a result, as the reason of a denial.
func newResult(a neutral.Asked) string {
	return cmp.Or(neutral.ResultText(a.Verdict.UpdatedToolResponse), "(a hook removed the tool's result)")
}
