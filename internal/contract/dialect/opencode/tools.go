package opencode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "bash", Canonical: "Bash", Dir: "workdir"},
	{Own: "read", Canonical: "Read", Args: "filePath=file_path"},
	{Own: "write", Canonical: "Write", Args: "filePath=file_path"},
	{Own: "edit", Canonical: "Edit", Args: "filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all"},
	{Own: "multiedit", Canonical: "Edit", Args: "filePath=file_path edits=edits =old_string =new_string", OneWay: true, Edits: "edits"},
	{Own: "patch", Canonical: "Edit", Args: "patchText=patchText =file_path =old_string =new_string", OneWay: true, Patches: "patchText"},
	{Own: "apply_patch", Canonical: "Edit", Args: "patchText=patchText =file_path =old_string =new_string", OneWay: true, Patches: "patchText"},
	{Own: "glob", Canonical: "Glob"},
	{Own: "grep", Canonical: "Grep", Args: "include=glob"},
	{Own: "list", Canonical: "LS"},
	{Own: "webfetch", Canonical: "WebFetch"},
	{Own: "websearch", Canonical: "WebSearch"},
	{Own: "task", Canonical: "Agent"},
	{Own: "todowrite", Canonical: "TodoWrite"},
	{Own: "question", Canonical: "AskUserQuestion"},
}
