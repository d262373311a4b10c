package pi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the types of its extensions have a line for each event.
var ships = neutral.Shipped{
	Files:   []string{"dist/core/extensions/types.d.ts", "dist/core/tools/*.js"},
	Tools:   `\bname: "[a-z]+",\n\s+label:`,
	Passage: `on\(event: "[a-z_]+"`,
	Left: []neutral.LeftOut{
		{
			Names: "before_agent_start",
			Why:   "hookd's extension uses it to add the context that hooks gave at the start and with the prompt",
		},
		{
			Names: "user_bash",
			Why:   "a person has typed that command, no agent: guards are for agents",
		},
		{
			Names: "tool_execution_start tool_execution_update tool_execution_end",
			Why:   "tool_call and tool_result tell of the same call, and can decide",
		},
		{
			Names: "agent_start turn_start message_start message_update message_end agent_before_settle agent_settled",
			Why:   "input, turn_end and agent_end tell of the same work",
		},
		{
			Names: "context context_with_system before_provider_request before_provider_headers after_provider_response " +
				"provider_stream_event cache_warming_decision",
			Why: "they hold the whole conversation for each call of the model",
		},
		{
			Names: "session_before_fork session_before_switch session_before_tree session_tree",
			Why:   "a person moves between sessions; session_start and session_shutdown tell of each one",
		},
		{
			Names: "model_select thinking_level_select resources_discover project_trust session_info_changed mcp_servers_change",
			Why:   "they are settings that a person or an extension chooses",
		},
		{
			Names: "session_compact_failed ui_prompt_start ui_prompt_end",
			Why:   "they tell of the screen, or of work that was not done",
		},
	},
}

// reach is empty: each tool of 0.73.1 has a canonical name. Extensions bring their own tools.
var reach = []neutral.Reach{}
