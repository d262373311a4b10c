package pi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "bash", Canonical: "Bash"},
	{Own: "read", Canonical: "Read", Args: "path=file_path"},
	{Own: "write", Canonical: "Write", Args: "path=file_path"},
	{Own: "edit", Canonical: "Edit", Args: "path=file_path edits=edits =old_string =new_string", Edits: "edits"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "find", Canonical: "Glob"},
	{Own: "ls", Canonical: "LS"},
}
