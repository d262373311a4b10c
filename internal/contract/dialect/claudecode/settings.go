package claudecode

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Claude Code keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "claude",
		Ships:    &ships, Reach: reach,
		DirEnv: "CLAUDE_CONFIG_DIR", Dir: ".claude", File: "settings.json", Project: ".claude/settings.json",
		Managed: neutral.Managed{
			Linux: "/etc/claude-code/managed-settings.json",
			MacOS: "/Library/Application Support/ClaudeCode/managed-settings.json",
		},
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Shell: true, Unit: time.Second,
		Import: neutral.ImportsTyped, OwnList: &ownList,
		Skip:  neutral.Only("WorktreeCreate"), // there a hook makes the worktree itself
		Posts: func(c *events.Contract) bool { return c.Name != "SessionStart" && c.Name != "Setup" },
		Switches: []neutral.Toggle{{
			Path: []string{"disableAllHooks"}, Off: true,
			Say: "`disableAllHooks` is true there: Claude Code runs no hooks until it is removed",
		}},
	}
}
