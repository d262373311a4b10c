package kimi

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Kimi Code keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "kimi", Reach: reach,
		DirEnv: "KIMI_CODE_HOME", Dir: ".kimi-code", File: "config.toml",
		Format: neutral.FormatTOML, At: []string{"hooks"}, Shape: neutral.Listed, Keys: neutral.StandardKeys,
		Shell: true, Unit: time.Second,
		Longest: 10 * time.Minute,
	}
}
