package librefang

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "shell_exec", Canonical: "Bash"},
	{Own: "file_read", Canonical: "Read", Args: "path=file_path"},
	{Own: "file_write", Canonical: "Write", Args: "path=file_path"},
	{Own: "file_list", Canonical: "LS"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch"},
}
