package copilot

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// reach has the tools of 1.0.102 with a reach under their own names. The names come from requests to a model:
// the program holds them compressed.
var reach = []neutral.Reach{
	{Tools: "write_agent", What: "has an agent go on; its own calls are asked about"},
	{Tools: "sql session_store_sql", What: "reads and writes the agent's own databases"},
	{Tools: "skill", What: "reads the files of a skill"},
	{Tools: "fetch_copilot_cli_documentation", What: "fetches Copilot's own documentation"},
}

// others reach only the agent's own notes.
const others = "list_agents list_bash read_agent read_bash stop_bash"
