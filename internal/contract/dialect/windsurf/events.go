package windsurf

import "github.com/hookd/hookd/internal/events"

// Rows is Windsurf Cascade's contract: its
// pre_* hooks block with exit 2 and can do nothing else. It has no event for
// the end of a turn; the end of a response stands in for it. The response
// with its transcript comes on top, so it has its own kind.
func Rows() []events.Contract {
	before := func(name, tools, when string) events.Contract {
		return events.Contract{Name: name, Kind: events.KindToolBefore, Tools: tools, When: when, Fields: common,
			CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict}
	}
	after := func(name, tools, when string) events.Contract {
		return events.Contract{Name: name, Kind: events.KindToolAfter, Tools: tools, When: when, Fields: common}
	}
	wrote := after("post_write_code", "Edit Write", "a file was written")
	wrote.Also = events.KindFileChanged
	return []events.Contract{
		before("pre_read_code", "Read", "before a file is read"),
		before("pre_write_code", "Edit Write", "before a file is written"),
		before("pre_run_command", "Bash", "before a command runs"),
		before("pre_mcp_tool_use", "mcp__*", "before an MCP tool call"),
		after("post_read_code", "Read", "a file was read"),
		wrote,
		after("post_run_command", "Bash", "a command ended"),
		after("post_mcp_tool_use", "mcp__*", "an MCP tool call ended"),
		{Name: "pre_user_prompt", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: common, CanBlock: true},
		{Name: "post_cascade_response", Kind: events.KindModelAfter, Also: events.KindTurnStop,
			When:   "the agent answered",
			Fields: common},
		{Name: "post_cascade_response_with_transcript", When: "the agent answered; with the transcript's path",
			Fields: common},
		{Name: "post_setup_worktree", When: "a worktree was set up", Fields: common},
	}
}

var common = []events.Field{
	events.String.Field("agent_action_name", "the event's name"),
	events.String.Field("trajectory_id", "the session"),
	events.String.Field("execution_id", "the turn"),
	events.String.Field("timestamp", "ISO 8601"),
	events.String.Field("model_name", "the model"),
	events.Object.Field("tool_info", "what the action is about: file_path, command_line, mcp_tool_name, user_prompt, …"),
}
