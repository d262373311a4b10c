package amp

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "shell_command", Canonical: "Bash", Dir: "workdir cwd", Args: "command=command cmd=command"},
	{Own: "Bash", Canonical: "Bash", Dir: "cwd", Args: "cmd=command command=command", OneWay: true},
	{Own: "Read", Canonical: "Read", Args: "path=file_path"},
	{Own: "create_file", Canonical: "Write", Args: "path=file_path"},
	{Own: "edit_file", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string"},
	{Own: "apply_patch", Canonical: "Edit", Args: "patchText=patchText =file_path =old_string =new_string", OneWay: true,
		Patches: "patchText"},
	{Own: "glob", Canonical: "Glob", Args: "filePattern=pattern"},
	{Own: "Grep", Canonical: "Grep"},
	{Own: "read_web_page", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch", Args: "objective=query"},
	{Own: "Task", Canonical: "Agent"},
}
