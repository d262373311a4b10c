package crush

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "bash", Canonical: "Bash", Dir: "workingdir"},
	{Own: "view", Canonical: "Read"},
	{Own: "write", Canonical: "Write"},
	{Own: "edit", Canonical: "Edit"},
	{Own: "multiedit", Canonical: "Edit", Args: "edits=edits =old_string =new_string", OneWay: true, Edits: "edits"},
	{Own: "glob", Canonical: "Glob"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "ls", Canonical: "LS"},
	{Own: "fetch", Canonical: "WebFetch"},
	{Own: "download", Canonical: "Write", Args: "file_path=file_path =content", OneWay: true},
	{Own: "agentic_fetch", Canonical: "WebFetch", OneWay: true},
	{Own: "agent", Canonical: "Agent"},
	{Own: "todos", Canonical: "TodoWrite"},
}
