package windsurf

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_command", Canonical: "Bash"},
	{Own: "read_code", Canonical: "Read"},
	{Own: "write_code", Canonical: "Edit"},
	{Own: "write_code", Canonical: "Write"},
}
