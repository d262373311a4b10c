package crush

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Crush keeps its hooks, and how one is written there. Older
// versions refuse a file with an event that they do not know.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "crush", Trace: ".config/crush",
		DirEnv: "XDG_CONFIG_HOME", Dir: ".config", File: "crush/crush.json", Project: "crush.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Shape: neutral.Handlers, Keys: neutral.StandardKeys,
		Unit: time.Second, Longest: 10 * time.Minute, Newer: "PreCompact",
	}
}
