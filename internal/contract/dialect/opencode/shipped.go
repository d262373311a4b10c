package opencode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Ships is where OpenCode's program calls the hooks of plugins. Events that come over its bus have no
// such place.
var Ships = neutral.Shipped{
	Files:   []string{".", "../opencode-*/bin/opencode", "bin/opencode.exe"},
	Tools:   `\("[a-z_]+",[A-Za-z_$]+\.gen\(function\*`,
	Passage: `\.trigger\("(?:chat|tool|command|experimental|permission|shell)\.[a-z.]+"`,
	Left: []neutral.LeftOut{
		{
			Names: "chat.params chat.headers tool.definition shell.env",
			Why:   "they are settings of a call of the model or of a tool, for which hooks have no word",
		},
		{
			Names: "experimental.chat.messages.transform experimental.chat.system.transform experimental.text.complete",
			Why:   "they hold the whole conversation for each call of the model, and are experimental",
		},
		{
			Names: "experimental.compaction.autocontinue",
			Why:   "it says whether work goes on after a compaction; session.compacted reports it",
		},
		{
			Names: "command.execute.before",
			Why:   "it only adds parts to the prompt of a command, of which chat.message and command.executed tell",
		},
	},
	Elsewhere: "session.created session.deleted session.idle session.error session.compacted permission.asked " +
		"permission.replied file.edited command.executed subagent.created subagent.idle",
}

// Reach has the tools of 1.18.33 that reach something under a name of their own.
var Reach = []neutral.Reach{
	{Tools: "skill", What: "reads the files of a skill"},
	{Tools: "lsp", What: "has a language server read files"},
}

// Others reach only the agent's own notes.
const Others = "invalid plan_exit"
