package antigravity

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "run_command", Canonical: "Bash", Dir: "cwd", Args: "CommandLine=command Cwd=cwd"},
	{Own: "send_command_input", Canonical: neutral.Shell, Args: "Input=command", OneWay: true},
	{Own: "view_file", Canonical: "Read", Args: "AbsolutePath=file_path"},
	{Own: "write_to_file", Canonical: "Write", Args: "TargetFile=file_path CodeContent=content"},
	{Own: "replace_file_content", Canonical: "Edit", Args: "TargetFile=file_path TargetContent=old_string ReplacementContent=new_string"},
	{
		Own: "multi_replace_file_content", Canonical: "Edit", OneWay: true, Edits: "ReplacementChunks",
		Args: "TargetFile=file_path ReplacementChunks=edits =old_string =new_string",
	},
	{Own: "list_dir", Canonical: "LS", Args: "DirectoryPath=path"},
	{Own: "grep_search", Canonical: "Grep", Args: "Query=pattern SearchPath=path"},
	{Own: "ask_question", Canonical: "AskUserQuestion"},
}
