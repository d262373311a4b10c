package cursor

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Cursor keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "cursor-agent cursor",
		Dir:      ".cursor", File: "hooks.json", Project: ".cursor/hooks.json",
		Managed: neutral.Managed{
			Linux: "/etc/cursor/hooks.json",
			MacOS: "/Library/Application Support/Cursor/hooks.json",
		},
		Format: neutral.FormatJSON, At: []string{"hooks"}, Beside: []neutral.Leaf{{Key: "version", Value: 1}},
		Shape: neutral.Handlers, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand, Shell: true, Unit: time.Second,
		Longest: 10 * time.Minute,
		// where its setting for it is on
		Runs: &neutral.Foreign{Agent: events.ClaudeCode, By: "Cursor", Title: "Claude Code"},
	}
}
