package copilot

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Copilot keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "copilot", Reach: reach,
		DirEnv: "COPILOT_HOME", Dir: ".copilot", File: "hooks/hookd.json", Project: ".github/hooks/hookd.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Beside: []neutral.Leaf{{Key: "version", Value: 1}},
		Shape: neutral.Handlers, Named: true, Keys: neutral.Keys{Command: "bash", Timeout: "timeoutSec"},
		Lead: neutral.TypeCommand, Shell: true, Unit: time.Second,
		Longest: 10 * time.Minute,
		Switches: []neutral.Toggle{{
			Path: []string{"disableAllHooks"}, Off: true,
			Say: "`disableAllHooks` is true there: Copilot runs none of its hooks until the line is removed",
		}},
	}
}
