package openhands

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "terminal", Canonical: "Bash"},
	{Own: "execute_bash", Canonical: "Bash", OneWay: true},
	{Own: "file_editor", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string"},
	{Own: "file_editor", Canonical: "Write", OneWay: true},
	{Own: "apply_patch", Canonical: "Edit", Args: "patch=patch =file_path =old_string =new_string", OneWay: true, Patches: "patch"},
	{Own: "glob", Canonical: "Glob"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "browser_navigate", Canonical: "WebFetch"},
	{Own: "task_tracker", Canonical: "TodoWrite"},
	{Own: "delegate", Canonical: "Agent"},
}
