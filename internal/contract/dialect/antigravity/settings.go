package antigravity

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Antigravity keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "antigravity agy",
		Dir:      ".gemini/config", File: "hooks.json", Project: ".agents/hooks.json",
		Format: neutral.FormatJSON, At: []string{"hookd"},
		Beside: []neutral.Leaf{{Path: []string{"hookd"}, Key: "enabled", Value: true}},
		Shape:  neutral.ByTool, Named: true, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand, Unit: time.Second,
		Longest: 10 * time.Minute,
		Switches: []neutral.Toggle{{
			Path: []string{"hookd", "enabled"},
			Say:  "`hookd.enabled` is false there: Antigravity calls the bridge when it is true",
		}},
	}
}
