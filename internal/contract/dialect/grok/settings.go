package grok

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Grok Build keeps its hooks, and how one is written there: it
// reads each file of the folder. A matcher is a regular expression.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "grok",
		DirEnv:   "GROK_HOME", Dir: ".grok", File: "hooks/hookd.json", Project: ".grok/hooks/hookd.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Unit: time.Second, Longest: 10 * time.Minute, NoMatcher: true,
		Runs: &neutral.Foreign{Agent: events.ClaudeCode, By: "Grok Build", Title: "Claude Code"},
	}
}
