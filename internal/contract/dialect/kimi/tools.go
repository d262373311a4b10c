package kimi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools, as 2.1.0 has them, and of the arguments that it executes. Names of
// earlier versions are read alone.
var tools = []neutral.ToolName{
	{Own: "Bash", Canonical: "Bash"},
	{Own: "Read", Canonical: "Read", Args: "path=file_path"},
	{Own: "Write", Canonical: "Write", Args: "path=file_path"},
	{Own: "Edit", Canonical: "Edit", Args: "path=file_path"},
	{Own: "Grep", Canonical: "Grep"},
	{Own: "Glob", Canonical: "Glob"},
	{Own: "FetchURL", Canonical: "WebFetch"},
	{Own: "WebSearch", Canonical: "WebSearch"},
	{Own: "TodoList", Canonical: "TodoWrite"},
	{Own: "Agent", Canonical: "Agent"},
	{Own: "AskUserQuestion", Canonical: "AskUserQuestion"},
	{Own: "Shell", Canonical: "Bash", OneWay: true},
	{Own: "ReadFile", Canonical: "Read", Args: "path=file_path", OneWay: true},
	{Own: "WriteFile", Canonical: "Write", Args: "path=file_path", OneWay: true},
	{Own: "StrReplaceFile", Canonical: "Edit", Args: "path=file_path edit=edit =old_string =new_string", OneWay: true, Edits: "edit"},
	{Own: "SearchWeb", Canonical: "WebSearch", OneWay: true},
	{Own: "SetTodoList", Canonical: "TodoWrite", OneWay: true},
	{Own: "Task", Canonical: "Agent", OneWay: true},
}
