package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "Task", Canonical: "Agent", OneWay: true},
	{Own: "PowerShell", Canonical: neutral.Shell, OneWay: true, Code: "PowerShell"},
	{Own: "Monitor", Canonical: neutral.Shell, OneWay: true},
	{Own: "MultiEdit", Canonical: "Edit", Args: "edits=edits =old_string =new_string", OneWay: true, Edits: "edits"},

	// Tools of agents that run the hooks in Claude Code's settings: Visual Studio Code and Devin.
	{Own: "run_in_terminal", Canonical: "Bash", OneWay: true},
	{Own: "exec", Canonical: "Bash", OneWay: true},
	{Own: "read_file", Canonical: "Read", Args: "filePath=file_path", OneWay: true},
	{Own: "create_file", Canonical: "Write", Args: "filePath=file_path", OneWay: true},
	{Own: "replace_string_in_file", Canonical: "Edit", Args: "filePath=file_path oldString=old_string newString=new_string", OneWay: true},
}

// others are its tools, of today and of earlier versions, that hooks see under the names that it has for them.
const others = "AskUserQuestion BashOutput CronDelete CronList EndConversation EnterPlanMode ExitPlanMode Glob Grep " +
	"KillBash KillShell LS ListAgents NotebookEdit NotebookRead OfferChromeSetup ReadNotifications " +
	"ReportFindings ShowOnboardingRolePicker SubagentHandback TaskCreate TaskGet TaskList TaskOutput " +
	"TaskStop TaskUpdate TodoWrite ToolSearch WaitForMcpServers WebFetch WebSearch"
