package gemini

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Gemini CLI keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "gemini",
		Ships:    &ships, Reach: reach,
		HomeEnv: "GEMINI_CLI_HOME", Dir: ".gemini", File: "settings.json", Project: ".gemini/settings.json",
		Managed: neutral.Managed{
			Linux: "/etc/gemini-cli/settings.json",
			MacOS: "/Library/Application Support/GeminiCli/settings.json",
			After: []string{"a user can switch hooks off in ~/.gemini/settings.json; to forbid that, add to this file: " +
				`"hooksConfig": {"enabled": true}`},
		},
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys,
		Shell: true, Unit: time.Millisecond,
		Longest: 10 * time.Minute,
		Import:  neutral.ImportsCommands,
		OwnList: &ownList,
		Lead:    []neutral.Setting{{Key: "name", Value: "hookd"}, {Key: "type", Value: "command"}},
		Switches: []neutral.Toggle{{
			Path: []string{"hooksConfig", "enabled"},
			Say:  "`hooksConfig.enabled` is false there: Gemini CLI runs no hooks until it is removed",
		}},
	}
}
