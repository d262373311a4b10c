package pi

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Pi looks for extensions.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "pi",
		Ships:    &ships, Reach: reach,
		DirEnv: "PI_CODING_AGENT_DIR", Dir: ".pi/agent", File: "extensions", Project: ".pi/extensions",
		Files: neutral.Plugin, Longest: 10 * time.Minute,
		After: []string{"Pi loads extensions at its start: start it again, or type /reload"},
	}
}
