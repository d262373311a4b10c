package qoder

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Qoder keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "qodercli qoder",
		Ships:    &ships,
		Dir:      ".qoder", File: "settings.json", Project: ".qoder/settings.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Unit: time.Second, Longest: 10 * time.Minute,
		Skip: neutral.Only("WorktreeCreate"), // there a hook makes the worktree itself
		Switches: []neutral.Toggle{{
			Path: []string{"disableAllHooks"}, Off: true,
			Say: "`disableAllHooks` is true there: Qoder runs no hooks until it is removed",
		}},
	}
}
