package codex

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "shell", Canonical: "Bash", Dir: "workdir", OneWay: true},
	{Own: "local_shell", Canonical: "Bash", Dir: "workdir workingdirectory", OneWay: true},
	{Own: "exec_command", Canonical: "Bash", Dir: "workdir", Args: "cmd=command", OneWay: true},
	{Own: "write_stdin", Canonical: neutral.Shell, Args: "chars=command", OneWay: true},
	{Own: "apply_patch", Canonical: "Edit", Args: "command=command input=input =file_path =old_string =new_string", OneWay: true,
		Patches: "command input patch"},
	{Own: "apply_patch", Canonical: "Write", OneWay: true},
	{Own: "update_plan", Canonical: "TodoWrite"},
	{Own: "spawn_agent", Canonical: "Agent"},
}
