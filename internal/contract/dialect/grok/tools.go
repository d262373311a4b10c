package grok

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_terminal_command", Canonical: "Bash"},
	{Own: "run_terminal_cmd", Canonical: "Bash", OneWay: true},
	{Own: "read_file", Canonical: "Read", Args: "target_file=file_path file_path=file_path path=file_path"},
	{Own: "write_file", Canonical: "Write", Args: "file_path=file_path path=file_path contents=content content=content"},
	{Own: "write", Canonical: "Write", Args: "file_path=file_path path=file_path contents=content content=content", OneWay: true},
	{Own: "search_replace", Canonical: "Edit", Args: "file_path=file_path path=file_path"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "list_dir", Canonical: "LS", Args: "target_directory=path path=path"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "task", Canonical: "Agent"},
	{Own: "todo_write", Canonical: "TodoWrite"},
}
