package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the program has its script in it, with a list of all events.
var ships = neutral.Shipped{
	Files:   []string{".", "cli.js"},
	Tools:   `\["Agent",(?:"[A-Za-z_]+",?){20,}\]`,
	Passage: `\["PreToolUse","PostToolUse"(?:,"[A-Za-z]+"){8,}\]`,
}

// reach has the tools of 2.1.332 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "Workflow SendMessage", What: "starts agents, or has them go on; their own calls are asked about"},
	{Tools: "CronCreate ScheduleWakeup SetGoal", What: "has the agent work later, without a person"},
	{Tools: "RemoteTrigger", What: "has an agent work on another machine, where no guard of this one is asked"},
	{Tools: "Projects Artifact ClaudeDesign SendUserFile SendFeedback ShareOnboardingGuide PushNotification SendUserMessage",
		What: "sends text or files to a service"},
	{Tools: "EnterWorktree ExitWorktree", What: "makes and removes working trees of git, and works there"},
	{Tools: "Skill SlashCommand", What: "reads the files of a skill; its shell lines are asked about as PreSkillShellCommand"},
	{Tools: "ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool", What: "asks an MCP server"},
	{Tools: "LSP", What: "has a language server read files"},
	{Tools: "propose_skills", What: "writes a skill, when a person takes it"},
}
