package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_shell_command", Canonical: "Bash", Dir: "directory"},
	{Own: "monitor", Canonical: neutral.Shell, OneWay: true},
	{Own: "read_file", Canonical: "Read", Args: "file_path=file_path absolute_path=file_path"},
	{Own: "write_file", Canonical: "Write"},
	{Own: "edit", Canonical: "Edit"},
	{Own: "replace", Canonical: "Edit", OneWay: true},
	{Own: "glob", Canonical: "Glob"},
	{Own: "grep_search", Canonical: "Grep"},
	{Own: "search_file_content", Canonical: "Grep", OneWay: true},
	{Own: "list_directory", Canonical: "LS"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "notebook_edit", Canonical: "NotebookEdit"},
	{Own: "todo_write", Canonical: "TodoWrite"},
	{Own: "agent", Canonical: "Agent"},
	{Own: "task", Canonical: "Agent", OneWay: true},
	{Own: "ask_user_question", Canonical: "AskUserQuestion"},
}
