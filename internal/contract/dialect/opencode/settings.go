package opencode

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where OpenCode keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "opencode", Trace: ".config/opencode",
		Ships: &Ships, Reach: Reach,
		DirEnv: "XDG_CONFIG_HOME", Dir: ".config", File: "opencode/plugins", Project: ".opencode/plugins",
		Files:   neutral.Plugin,
		Longest: 10 * time.Minute, After: []string{"OpenCode loads plugins at its start: start it again"},
	}
}
