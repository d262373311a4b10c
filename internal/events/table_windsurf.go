package events

// windsurfRows is Windsurf Cascade's contract (reference/dialects.md A12): its
// pre_* hooks block with exit 2 and can do nothing else. It has no event for
// the end of a turn; the end of a response stands in for it. The response
// with its transcript comes on top, so it has its own kind.
func windsurfRows() []Contract {
	before := func(name, tools, when string) Contract {
		return Contract{Name: name, Kind: KindToolBefore, Tools: tools, When: when, Fields: windsurfCommon,
			CanBlock: true, FailClosed: true, Decision: DecisionVerdict}
	}
	after := func(name, tools, when string) Contract {
		return Contract{Name: name, Kind: KindToolAfter, Tools: tools, When: when, Fields: windsurfCommon}
	}
	wrote := after("post_write_code", "Edit Write", "a file was written")
	wrote.Also = KindFileChanged
	return []Contract{
		before("pre_read_code", "Read", "before a file is read"),
		before("pre_write_code", "Edit Write", "before a file is written"),
		before("pre_run_command", "Bash", "before a command runs"),
		before("pre_mcp_tool_use", "mcp__*", "before an MCP tool call"),
		after("post_read_code", "Read", "a file was read"),
		wrote,
		after("post_run_command", "Bash", "a command ended"),
		after("post_mcp_tool_use", "mcp__*", "an MCP tool call ended"),
		{Name: "pre_user_prompt", Kind: KindPromptSubmit, When: "the user submitted a prompt", Fields: windsurfCommon, CanBlock: true},
		{Name: "post_cascade_response", Kind: KindModelAfter, Also: KindTurnStop, When: "the agent answered", Fields: windsurfCommon},
		{Name: "post_cascade_response_with_transcript", When: "the agent answered; with the transcript's path", Fields: windsurfCommon},
		{Name: "post_setup_worktree", When: "a worktree was set up", Fields: windsurfCommon},
	}
}

var windsurfCommon = []Field{
	{"agent_action_name", String, false, "the event's name"},
	{"trajectory_id", String, false, "the session"},
	{"execution_id", String, false, "the turn"},
	{"timestamp", String, false, "ISO 8601"},
	{"model_name", String, false, "the model"},
	{"tool_info", Object, false, "what the action is about: file_path, command_line, mcp_tool_name, user_prompt, …"},
}
