package kiro

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools, old and new, and of the arguments that it
// executes. MCP tools are @SERVER/TOOL.
var tools = []neutral.ToolName{
	{Own: "shell", Canonical: "Bash"},
	{Own: "execute_bash", Canonical: "Bash", OneWay: true},
	{Own: "execute_cmd", Canonical: "Bash", OneWay: true},
	{Own: "read", Canonical: "Read", Args: "operations=operations path=file_path", Paths: "operations"},
	{Own: "fs_read", Canonical: "Read", Args: "operations=operations path=file_path", OneWay: true, Paths: "operations"},
	{Own: "write", Canonical: "Write", Args: "path=file_path file_text=content"},
	{Own: "fs_write", Canonical: "Write", Args: "path=file_path file_text=content", OneWay: true},
	{Own: "fs_write", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string", OneWay: true},
	{Own: "write", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string", OneWay: true},
	{Own: "glob", Canonical: "Glob"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "todo_list", Canonical: "TodoWrite"},
	{Own: "use_subagent", Canonical: "Agent"},
}
