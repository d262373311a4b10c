package openclaw

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "exec", Canonical: "Bash", Dir: "workdir", Args: "workdir=cwd"},
	{Own: "bash", Canonical: "Bash", OneWay: true},
	{Own: "read", Canonical: "Read", Args: "path=file_path"},
	{Own: "write", Canonical: "Write", Args: "path=file_path"},
	{Own: "edit", Canonical: "Edit", Args: "path=file_path oldText=old_string newText=new_string"},
	{Own: "apply_patch", Canonical: "Edit", Args: "input=input =file_path =old_string =new_string", OneWay: true, Patches: "input"},
	{Own: "grep", Canonical: "Grep"},
	{Own: "find", Canonical: "Glob"},
	{Own: "ls", Canonical: "LS"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "web_search", Canonical: "WebSearch"},
	{Own: "sessions_spawn", Canonical: "Agent", Args: "task=prompt"},
}
