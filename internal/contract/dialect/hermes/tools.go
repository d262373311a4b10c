package hermes

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "terminal", Canonical: "Bash", Dir: "workdir"},
	{Own: "execute_code", Canonical: neutral.Shell, Args: "code=command", OneWay: true, Code: "Python"},
	{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
	{Own: "write_file", Canonical: "Write", Args: "path=file_path"},
	{Own: "patch", Canonical: "Edit", Args: "path=file_path", Patches: "patch", Paths: "path"},
	{Own: "search_files", Canonical: "Grep"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "web_extract", Canonical: "WebFetch", Args: "urls[]=url"},
	{Own: "delegate_task", Canonical: "Agent"},
	{Own: "todo", Canonical: "TodoWrite"},
}
