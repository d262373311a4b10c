// Package hermes speaks the dialect of Hermes's shell hooks
// (reference/dialects.md A10). It is pure. "No opinion" is {}.
package hermes

import (
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
)

// Agent is Hermes. It has a person approve a call where a hook asks.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second), Asks: "pre_tool_call",
		Foreign: true, Answer: Answer,
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
			{Field: "extra.result", Fact: neutral.Result},
			{Field: "extra.user_message", Fact: neutral.Prompt},
			{Field: "extra.assistant_response", Fact: neutral.Answer},
			{Field: "message", Fact: neutral.Prompt, Form: neutral.Preview},
			{Field: "response", Fact: neutral.Answer, Form: neutral.Preview},
			{Field: "user_id", Fact: neutral.Sender},
			{Field: "iteration", Fact: neutral.Step},
			{Field: "model", Fact: neutral.Model},
		},
		Tools: []neutral.ToolName{
			{Own: "terminal", Canonical: "Bash"},
			{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
			{Own: "write_file", Canonical: "Write", Args: "path=file_path"},
			{Own: "patch", Canonical: "Edit", Args: "path=file_path"},
			{Own: "search_files", Canonical: "Grep"},
			{Own: "web_search", Canonical: "WebSearch"},
			{Own: "web_extract", Canonical: "WebFetch"},
			{Own: "delegate_task", Canonical: "Agent"},
			{Own: "todo", Canonical: "TodoWrite"},
		},
	}
}

// Answer writes what Hermes reads (reference/dialects.md A10, B3).
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("pre_tool_call") && a.Denies(), a.Is("pre_verify") && a.Denies() && a.Verdict.Continue:
		return neutral.Say("", neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("pre_tool_call") && a.Asks():
		return neutral.Say("", neutral.Str("action", "approve"))
	case a.Is("pre_tool_call") && a.Rewrites():
		return neutral.Say("", neutral.Str("action", "modify"), neutral.Raw("args", a.Verdict.UpdatedInput))
	case a.Is("pre_llm_call") && a.Verdict.AdditionalContext != "":
		return neutral.Say("", neutral.Str("context", a.Verdict.AdditionalContext))
	}
	return neutral.Say("{}")
}
