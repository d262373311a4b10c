package openhands

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where OpenHands keeps its hooks, and how one is written there. It reads
// one file alone: a project's, where there is one.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "openhands",
		Dir:      ".openhands", File: "hooks.json", Project: ".openhands/hooks.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Unit: time.Second, Longest: 10 * time.Minute,
		After: []string{"OpenHands reads a project's .openhands/hooks.json instead of this one: there, type `hookd connect " +
			"openhands --project .`"},
	}
}
