package amp

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Amp looks for plugins.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "amp", Trace: ".config/amp",
		DirEnv: "XDG_CONFIG_HOME", Dir: ".config", File: "amp/plugins", Project: ".amp/plugins",
		Files: neutral.Plugin, Longest: 10 * time.Minute,
		After: []string{"Amp loads plugins at its start: start it again, or type `plugins: reload` there"},
	}
}
