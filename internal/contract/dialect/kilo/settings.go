package kilo

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Kilo looks for plugins.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "kilo", Trace: ".config/kilo",
		Ships:  ships(),
		DirEnv: "XDG_CONFIG_HOME", Dir: ".config", File: "kilo/plugin", Project: ".kilo/plugin",
		Files: neutral.Plugin, Longest: 10 * time.Minute,
		After: []string{"Kilo loads plugins at its start: start it again"},
	}
}
