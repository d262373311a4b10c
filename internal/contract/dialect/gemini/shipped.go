package gemini

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: its bundle has an enumeration of its events.
var ships = neutral.Shipped{
	Files:   []string{"bundle/*.js", "dist/src/hooks/types.js", "node_modules/@google/gemini-cli-core/dist/src/hooks/types.js"},
	Tools:   `\b[A-Z_]+_TOOL_NAME[0-9]* = "[a-z_]+"`,
	Passage: `HookEventName[0-9]*\["[A-Za-z]+"\]`,
}

// reach has the tools of 0.61 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "list_mcp_resources read_mcp_resource", What: "asks an MCP server"},
	{Tools: "activate_skill", What: "reads the files of a skill"},
	{Tools: "take_snapshot", What: "reads a page in a browser"},
}

// others reach only the agent's own notes.
const others = "complete_task enter_plan_mode exit_plan_mode get_internal_docs update_topic tracker_add_dependency " +
	"tracker_create_task tracker_get_task tracker_list_tasks tracker_update_task tracker_visualize"
