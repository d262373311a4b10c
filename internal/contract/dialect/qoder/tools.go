package qoder

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes: Claude
// Code's, except these.
var tools = []neutral.ToolName{
	{Own: "Task", Canonical: "Agent", OneWay: true},
	{Own: "MultiEdit", Canonical: "Edit", Args: "edits=edits =old_string =new_string", OneWay: true, Edits: "edits"},
}
