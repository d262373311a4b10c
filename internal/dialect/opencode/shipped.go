package opencode

import "github.com/hookd/hookd/internal/dialect/neutral"

// Ships is where OpenCode's program calls the hooks of plugins. What comes over its bus of events has
// no such place.
var Ships = neutral.Shipped{
	Files:   []string{".", "../opencode-*/bin/opencode", "bin/opencode.exe"},
	Passage: `\.trigger\("(?:chat|tool|command|experimental|permission|shell)\.[a-z.]+"`,
	Left: "chat.headers chat.params command.execute.before experimental.chat.messages.transform " +
		"experimental.chat.system.transform experimental.compaction.autocontinue experimental.text.complete shell.env " +
		"tool.definition",
	Elsewhere: "session.created session.deleted session.idle session.error session.compacted permission.asked " +
		"permission.replied file.edited command.executed subagent.created subagent.idle",
}
