package dockeragent

import (
	"github.com/hookd/hookd/internal/dialect/neutral"
)

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "shell", Canonical: "Bash", Args: "cmd=command"},
	{Own: "run_background_job", Canonical: "Bash", Args: "cmd=command", OneWay: true},
	{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
	{Own: "read_multiple_files", Canonical: "Read", OneWay: true},
	{Own: "write_file", Canonical: "Write", Args: "path=file_path"},
	{Own: "edit_file", Canonical: "Edit", Args: "path=file_path edits=edits =old_string =new_string"},
	{Own: "list_directory", Canonical: "LS"},
	{Own: "search_files_content", Canonical: "Grep", Args: "query=pattern"},
	{Own: "fetch", Canonical: "WebFetch", Args: "urls[]=url url=url"},
	{Own: "transfer_task", Canonical: "Agent", Args: "task=prompt"},
}
