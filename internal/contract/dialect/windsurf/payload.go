package windsurf

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	const (
		command = "pre_run_command post_run_command"
		read    = "pre_read_code post_read_code"
		write   = "pre_write_code post_write_code"
		mcp     = "pre_mcp_tool_use post_mcp_tool_use"
	)
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "trajectory_id", Fact: neutral.Session},
			{Field: "execution_id", Fact: neutral.Turn},
			{Field: "agent_action_name", Fact: neutral.Event},
			{Field: "model_name", Fact: neutral.Model},
			{Field: "tool_info.cwd", Fact: neutral.Cwd},
			{Field: "tool_info.command_line", Fact: neutral.Input + ".command", Events: command},
			{Field: "tool_info.file_path", Fact: neutral.Input + ".file_path", Events: read + " " + write},
			{Field: "tool_info.edits", Fact: neutral.Input + ".edits", Events: write},
			{Field: "tool_info.mcp_server_name", Fact: neutral.MCPServer, Events: mcp},
			{Field: "tool_info.mcp_tool_name", Fact: neutral.MCPTool, Events: mcp},
			{Field: "tool_info.mcp_tool_arguments", Fact: neutral.Input, Events: mcp},
			{Field: "tool_info.mcp_result", Fact: neutral.Result, Events: mcp},
			{Field: "tool_info.user_prompt", Fact: neutral.Prompt, Events: "pre_user_prompt"},
			{Field: "tool_info.response", Fact: neutral.Answer, Events: "post_cascade_response post_cascade_response_with_transcript"},
			{Field: "tool_info.transcript_path", Fact: neutral.Transcript, Events: "post_cascade_response_with_transcript"},
			{Field: "tool_info.worktree_path", Fact: neutral.Cwd, Events: "post_setup_worktree"},
		},
		Fixed: []neutral.Fixed{
			{Events: command, Fact: neutral.Tool, Value: `"run_command"`},
			{Events: read, Fact: neutral.Tool, Value: `"read_code"`},
			{Events: write, Fact: neutral.Tool, Value: `"write_code"`},
		},
		Tools: tools,
	}
}
