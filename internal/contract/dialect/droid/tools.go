package droid

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "Execute", Canonical: "Bash"},
	{Own: "Create", Canonical: "Write"},
	{Own: "Edit", Canonical: "Edit", Args: "old_str=old_string new_str=new_string old_string=old_string new_string=new_string"},
	{Own: "MultiEdit", Canonical: "Edit", Args: "changes=changes =old_string =new_string", OneWay: true, Edits: "changes"},
	{Own: "ApplyPatch", Canonical: "Edit", Args: "input=input =file_path =old_string =new_string", OneWay: true, Patches: "input"},
	{Own: "LS", Canonical: "LS", Args: "directory_path=path path=path"},
	{Own: "Glob", Canonical: "Glob", Args: "patterns[]=pattern folder=path"},
	{Own: "FetchUrl", Canonical: "WebFetch"},
	{Own: "Task", Canonical: "Agent"},
}
