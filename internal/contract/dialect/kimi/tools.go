package kimi

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "Shell", Canonical: "Bash", OneWay: true},
	{Own: "ReadFile", Canonical: "Read", Args: "path=file_path", OneWay: true},
	{Own: "WriteFile", Canonical: "Write", Args: "path=file_path", OneWay: true},
	{Own: "StrReplaceFile", Canonical: "Edit", Args: "path=file_path edit=edit =old_string =new_string", OneWay: true, Edits: "edit"},
	{Own: "FetchURL", Canonical: "WebFetch", OneWay: true},
	{Own: "SearchWeb", Canonical: "WebSearch", OneWay: true},
	{Own: "SetTodoList", Canonical: "TodoWrite", OneWay: true},
	{Own: "Task", Canonical: "Agent", OneWay: true},
}
