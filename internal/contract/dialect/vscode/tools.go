package vscode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_in_terminal", Canonical: "Bash"},
	{Own: "runTerminalCommand", Canonical: "Bash", OneWay: true},
	{Own: "create_and_run_task", Canonical: neutral.Shell, Args: "task=command", OneWay: true},
	{Own: "read_file", Canonical: "Read", Args: "filePath=file_path"},
	{Own: "create_file", Canonical: "Write", Args: "filePath=file_path"},
	{Own: "replace_string_in_file", Canonical: "Edit", Args: "filePath=file_path oldString=old_string newString=new_string"},
	{Own: "multi_replace_string_in_file", Canonical: "Edit", Args: "replacements=replacements =file_path =old_string =new_string",
		OneWay: true, Paths: "replacements", Edits: "replacements"},
	{Own: "insert_edit_into_file", Canonical: "Edit", Args: "filePath=file_path =old_string code=new_string", OneWay: true},
	{Own: "apply_patch", Canonical: "Edit", Args: "input=input =file_path =old_string =new_string", OneWay: true, Patches: "input"},
	{Own: "editFiles", Canonical: "Edit", Args: "files=files =file_path =old_string =new_string", OneWay: true, Paths: "files"},
	{Own: "grep_search", Canonical: "Grep", Args: "query=pattern includePattern=path"},
	{Own: "file_search", Canonical: "Glob", Args: "query=pattern =path"},
	{Own: "list_dir", Canonical: "LS"},
	{Own: "fetch_webpage", Canonical: "WebFetch", Args: "urls[]=url"},
	{Own: "runSubagent", Canonical: "Agent"},
	{Own: "manage_todo_list", Canonical: "TodoWrite"},
}
