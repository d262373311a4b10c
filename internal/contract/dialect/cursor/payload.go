package cursor

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	const (
		mcp   = "beforeMCPExecution afterMCPExecution"
		tool  = "preToolUse postToolUse postToolUseFailure"
		shell = "beforeShellExecution afterShellExecution"
		read  = "beforeReadFile beforeTabFileRead"
		edit  = "afterFileEdit afterTabFileEdit"
	)
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "conversation_id", Fact: neutral.Session},
			{Field: "session_id", Fact: neutral.Session},
			{Field: "generation_id", Fact: neutral.Turn},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "workspace_roots.0", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "model", Fact: neutral.Model},
			{Field: "composer_mode", Fact: neutral.Mode},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "tool_name", Fact: neutral.Tool, Events: tool + " " + mcp},
			{Field: "tool_input", Fact: neutral.Input, Events: tool},
			{Field: "tool_input", Fact: neutral.Input, Events: mcp, Form: neutral.JSON},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "mcp_server_name", Fact: neutral.MCPServer, Events: mcp},
			{Field: "command", Fact: neutral.Input + ".command", Events: shell},
			{Field: "file_path", Fact: neutral.Input + ".file_path", Events: read + " " + edit},
			{Field: "edits", Fact: neutral.Input + ".edits", Events: edit},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.JSON},
			{Field: "output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "result_json", Fact: neutral.Result, Form: neutral.JSON},
			{Field: "error_message", Fact: neutral.ErrorText},
			{Field: "is_interrupt", Fact: neutral.Interrupted},
			{Field: "duration", Fact: neutral.Took},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "text", Fact: neutral.Answer},
			{Field: "summary", Fact: neutral.Answer, Events: "subagentStop"},
			{Field: "status", Fact: neutral.Status, Words: "completed=ok error=error aborted=aborted"},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "subagent_type", Fact: neutral.AgentType},
			{Field: "subagent_id", Fact: neutral.AgentID},
			{Field: "task", Fact: neutral.Task},
		},
		Fixed: []neutral.Fixed{
			{Events: shell, Fact: neutral.Tool, Value: `"Shell"`},
			{Events: "beforeReadFile beforeTabFileRead", Fact: neutral.Tool, Value: `"Read"`},
			{Events: edit, Fact: neutral.Tool, Value: `"Write"`},
			{Events: "postToolUseFailure", Fact: neutral.Failed, Value: "true"},
		},
		Tools:     tools,
		MCPPrefix: mcpPrefix,
	}
}
