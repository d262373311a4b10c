package dockeragent

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "shell", Canonical: "Bash", Dir: "cwd", Folds: true, Args: "cmd=command"},
	{Own: "run_background_job", Canonical: "Bash", Dir: "cwd", Folds: true, Args: "cmd=command", OneWay: true},
	{Own: "read_file", Canonical: "Read", Folds: true, Args: "path=file_path"},
	{Own: "read_multiple_files", Canonical: "Read", Folds: true, Args: "paths=paths =file_path",
		OneWay: true, Paths: "paths"},
	{Own: "write_file", Canonical: "Write", Folds: true, Args: "path=file_path"},
	{Own: "edit_file", Canonical: "Edit", Folds: true, Args: "path=file_path edits=edits =old_string =new_string", Edits: "edits"},
	{Own: "list_directory", Canonical: "LS", Folds: true},
	{Own: "search_files_content", Canonical: "Grep", Folds: true, Args: "query=pattern"},
	{Own: "fetch", Canonical: "WebFetch", Folds: true, Args: "urls[]=url url=url"},
	{Own: "transfer_task", Canonical: "Agent", Folds: true, Args: "task=prompt"},
}
