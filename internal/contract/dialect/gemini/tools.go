package gemini

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_shell_command", Canonical: "Bash", Dir: "dirpath directory"},
	{Own: "read_file", Canonical: "Read", Args: "file_path=file_path absolute_path=file_path"},
	{Own: "read_many_files", Canonical: "Read", Args: "include=include paths=paths =file_path", OneWay: true, Paths: "include paths"},
	{Own: "write_file", Canonical: "Write"},
	{Own: "replace", Canonical: "Edit"},
	{Own: "glob", Canonical: "Glob", Args: "dir_path=path path=path"},
	{Own: "grep_search", Canonical: "Grep", Args: "dir_path=path path=path"},
	{Own: "search_file_content", Canonical: "Grep", OneWay: true},
	{Own: "grep", Canonical: "Grep", OneWay: true},
	{Own: "list_directory", Canonical: "LS", Args: "dir_path=path path=path"},
	{Own: "ls", Canonical: "LS", OneWay: true},
	{Own: "web_fetch", Canonical: "WebFetch", Args: "prompt=url url=url"}, // its addresses stand in the prompt,
	{Own: "google_web_search", Canonical: "WebSearch"},
	{Own: "invoke_agent", Canonical: "Agent"},
	{Own: "write_todos", Canonical: "TodoWrite"},
	{Own: "ask_user", Canonical: "AskUserQuestion"},
}
