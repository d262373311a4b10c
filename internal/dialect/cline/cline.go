// Package cline speaks Cline's dialect (reference/dialects.md A14). It is pure.
// Every answer is an object with cancel; "no opinion" does not cancel.
package cline

import (
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// maxContext is what Cline takes in contextModification, in bytes.
const maxContext = 50 << 10

// Agent is Cline.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hookName", Timeout: neutral.Always(30 * time.Second), Foreign: true, Answer: Answer,
	}
}

// Table says where its payloads hold what: each event has an object of its own.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "taskId", Fact: neutral.Session},
			{Field: "hookName", Fact: neutral.Event},
			{Field: "workspaceRoots.0", Fact: neutral.Cwd},
			{Field: "preToolUse.parameters.server_name", Fact: neutral.MCPServer, Events: "PreToolUse"},
			{Field: "preToolUse.parameters.tool_name", Fact: neutral.MCPTool, Events: "PreToolUse"},
			{Field: "postToolUse.parameters.server_name", Fact: neutral.MCPServer, Events: "PostToolUse"},
			{Field: "postToolUse.parameters.tool_name", Fact: neutral.MCPTool, Events: "PostToolUse"},
			{Field: "preToolUse.toolName", Fact: neutral.Tool, Events: "PreToolUse"},
			{Field: "preToolUse.parameters", Fact: neutral.Input, Events: "PreToolUse"},
			{Field: "postToolUse.toolName", Fact: neutral.Tool, Events: "PostToolUse"},
			{Field: "postToolUse.parameters", Fact: neutral.Input, Events: "PostToolUse"},
			{Field: "postToolUse.result", Fact: neutral.Result, Events: "PostToolUse", Form: neutral.Flat},
			{Field: "postToolUse.success", Fact: neutral.Failed, Events: "PostToolUse", Form: neutral.Not},
			{Field: "postToolUse.executionTimeMs", Fact: neutral.Took, Events: "PostToolUse"},
			{Field: "userPromptSubmit.prompt", Fact: neutral.Prompt, Events: "UserPromptSubmit"},
			{Field: "taskStart.taskMetadata.initialTask", Fact: neutral.Prompt, Events: "TaskStart"},
		},
		Tools: []neutral.ToolName{
			{Own: "execute_command", Canonical: "Bash"},
			{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
			{Own: "write_to_file", Canonical: "Write", Args: "path=file_path"},
			{Own: "replace_in_file", Canonical: "Edit", Args: "path=file_path"},
			{Own: "list_files", Canonical: "LS"},
			{Own: "search_files", Canonical: "Grep", Args: "regex=pattern"},
			{Own: "web_fetch", Canonical: "WebFetch"},
			{Own: "ask_followup_question", Canonical: "AskUserQuestion"},
			{Own: "new_task", Canonical: "Agent"},
		},
	}
}

// Events by what they take.
const (
	cancels   = "TaskStart TaskResume UserPromptSubmit PreToolUse PostToolUse PreCompact"
	takesText = "TaskStart TaskResume UserPromptSubmit PreToolUse PostToolUse"
)

// Answer writes what Cline reads (reference/dialects.md A14, B3).
func Answer(a neutral.Asked) neutral.Reply {
	if a.Denies() && a.Is(cancels) {
		return neutral.Say("", neutral.Bool("cancel", true), neutral.Str("errorMessage", a.Reason()))
	}
	top := []events.Member{neutral.Bool("cancel", false)}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		top = append(top, neutral.Str("contextModification", shortened(text)))
	}
	return neutral.Say("", top...)
}

// shortened cuts text between characters: Cline drops what is longer.
func shortened(text string) string {
	if len(text) <= maxContext {
		return text
	}
	end := maxContext
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
