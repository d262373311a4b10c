package tabnine

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Tabnine's command line keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "tabnine",
		Dir:      ".tabnine", File: "agent/settings.json", Project: ".tabnine/agent/settings.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Unit: time.Millisecond,
		Longest: 10 * time.Minute,
		Lead:    []neutral.Setting{{Key: "name", Value: "hookd"}, {Key: "type", Value: "command"}},
		Switches: []neutral.Toggle{{
			Path: []string{"hooksConfig", "enabled"},
			Say:  "`hooksConfig.enabled` is false there: Tabnine runs no hooks until it is removed",
		}},
	}
}
