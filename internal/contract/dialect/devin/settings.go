package devin

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Devin's command line keeps its hooks, and how one is written
// there. Its matchers are regular expressions.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "devin", Trace: ".config/devin",
		DirEnv: "XDG_CONFIG_HOME", Dir: ".config", File: "devin/config.json", Project: ".devin/config.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Unit: time.Second, Longest: 10 * time.Minute, NoMatcher: true,
		Runs: &neutral.Foreign{Agent: events.ClaudeCode, By: "Devin", Title: "Claude Code"},
	}
}
