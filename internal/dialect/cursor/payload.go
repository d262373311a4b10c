package cursor

import (
	"github.com/hookd/hookd/internal/dialect/neutral"
)

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
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
			{Field: "tool_name", Fact: neutral.Tool, Events: "preToolUse postToolUse postToolUseFailure beforeMCPExecution afterMCPExecution"},
			{Field: "tool_input", Fact: neutral.Input, Events: "preToolUse postToolUse postToolUseFailure"},
			{Field: "tool_input", Fact: neutral.Input, Events: "beforeMCPExecution afterMCPExecution", Form: neutral.JSON},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "mcp_server_name", Fact: neutral.MCPServer, Events: "beforeMCPExecution afterMCPExecution"},
			{Field: "command", Fact: neutral.Input + ".command", Events: "beforeShellExecution afterShellExecution"},
			{Field: "file_path", Fact: neutral.Input + ".file_path", Events: "beforeReadFile beforeTabFileRead afterFileEdit afterTabFileEdit"},
			{Field: "edits", Fact: neutral.Input + ".edits", Events: "afterFileEdit afterTabFileEdit"},
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
			{Events: "beforeShellExecution afterShellExecution", Fact: neutral.Tool, Value: `"Shell"`},
			{Events: "beforeReadFile beforeTabFileRead", Fact: neutral.Tool, Value: `"Read"`},
			{Events: "afterFileEdit afterTabFileEdit", Fact: neutral.Tool, Value: `"Write"`},
			{Events: "postToolUseFailure", Fact: neutral.Failed, Value: "true"},
		},
		Tools:     tools,
		MCPPrefix: mcpPrefix,
	}
}
