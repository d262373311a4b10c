package pi

import "github.com/hookd/hookd/internal/dialect/neutral"

// ships: the types of its extensions have a line for each event.
var ships = neutral.Shipped{
	Files:   []string{"dist/core/extensions/types.d.ts"},
	Passage: `on\(event: "[a-z_]+"`,
	Left: "after_provider_response agent_start before_agent_start before_provider_request context message_end " +
		"message_start message_update model_select resources_discover session_before_fork session_before_switch " +
		"session_before_tree session_tree thinking_level_select tool_execution_end tool_execution_start " +
		"tool_execution_update turn_start user_bash",
}
