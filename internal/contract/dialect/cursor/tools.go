package cursor

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "Shell", Canonical: "Bash", Dir: "workingdirectory"},
	{Own: "Write", Canonical: "Write"},
	{Own: "Write", Canonical: "Edit", OneWay: true}, // it has one name for both
	{Own: "Task", Canonical: "Agent"},
}
