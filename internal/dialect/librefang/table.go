package librefang

import (
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Bridge is LibreFang as the bridge knows it: a HOOK.yaml of LibreFang's own
// whose command is the bridge. LibreFang reads no answer but a new tool result.
func Bridge() neutral.Agent {
	return neutral.Agent{Table: Table(), Timeout: neutral.Always(5 * time.Second), Answer: Answer}
}

// Table says where LibreFang's payloads hold what (seed 000).
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_name", Fact: neutral.AgentName},
			{Field: "session_id", Fact: neutral.Session},
			{Field: "sender", Fact: neutral.Sender},
			{Field: "message_preview", Fact: neutral.Prompt, Form: neutral.Preview},
			{Field: "status", Fact: neutral.Status, Words: "ok=ok error=error max_steps=max_steps error=aborted"},
			{Field: "tokens_used", Fact: neutral.Tokens},
			{Field: "steps", Fact: neutral.Steps},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "response_preview", Fact: neutral.Answer, Form: neutral.Preview},
			{Field: "step_index", Fact: neutral.Step},
			{Field: "tool_call", Fact: neutral.Tool},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "reset_reason", Fact: neutral.Reason, Words: "idle=idle daily=daily suspended=suspended manual=manual"},
		},
		Tools: []neutral.ToolName{
			{Own: "shell_exec", Canonical: "Bash"},
			{Own: "file_read", Canonical: "Read", Args: "path=file_path"},
			{Own: "file_write", Canonical: "Write", Args: "path=file_path"},
			{Own: "file_list", Canonical: "LS"},
			{Own: "web_fetch", Canonical: "WebFetch"},
			{Own: "web_search", Canonical: "WebSearch"},
		},
	}
}

// Answer writes the new text of transform_tool_result; every other event
// observes.
func Answer(a neutral.Asked) neutral.Reply {
	row := events.LookupIn(events.LibreFang, a.Event)
	if row == nil || row.Rewrite == events.RewriteNone || a.Verdict.UpdatedToolResponse == nil {
		return neutral.Reply{}
	}
	return neutral.Reply{Stdout: neutral.ResultText(a.Verdict.UpdatedToolResponse)}
}
