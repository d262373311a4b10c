package copilot

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "bash", Canonical: "Bash"},
	{Own: "powershell", Canonical: neutral.Shell, OneWay: true, Code: "PowerShell"},
	{Own: "write_bash", Canonical: neutral.Shell, Args: "input=command", OneWay: true},
	{Own: "write_powershell", Canonical: neutral.Shell, Args: "input=command", OneWay: true, Code: "PowerShell"},
	{Own: "view", Canonical: "Read", Args: "path=file_path"},
	{Own: "create", Canonical: "Write", Args: "path=file_path file_text=content"},
	{Own: "edit", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string"},
	{Own: "str_replace_editor", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string", OneWay: true},
	{Own: "apply_patch", Canonical: "Edit", Args: "input=input patch=patch =file_path =old_string =new_string", OneWay: true,
		Patches: "input patch"},
	{Own: "apply_patch", Canonical: "Write", OneWay: true},
	{Own: "grep", Canonical: "Grep"},
	{Own: "rg", Canonical: "Grep", OneWay: true},
	{Own: "glob", Canonical: "Glob"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "ask_user", Canonical: "AskUserQuestion"},
	{Own: "update_todo", Canonical: "TodoWrite"},
	{Own: "task", Canonical: "Agent"},
}
