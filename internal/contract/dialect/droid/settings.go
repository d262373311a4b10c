package droid

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Droid keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "droid",
		Ships:    &ships,
		Dir:      ".factory", File: "settings.json", Project: ".factory/settings.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Shell: true, Unit: time.Second, Longest: 10 * time.Minute,
		Switches: []neutral.Toggle{{
			Path: []string{"hooksDisabled"}, Off: true,
			Say: "`hooksDisabled` is true there: Droid runs no hooks until it is removed",
		}},
	}
}
