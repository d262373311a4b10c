package hermes

import (
	"strings"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Hermes keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "hermes",
		DirEnv:   "HERMES_HOME", Dir: ".hermes", File: "config.yaml",
		Format: neutral.FormatYAML, At: []string{"hooks"}, Shape: neutral.Handlers, Keys: neutral.StandardKeys,
		Unit:    time.Second,
		Longest: 5 * time.Minute, Skip: notForShell,
		After: []string{"Hermes asks for consent to each new hook: start hermes at a terminal, or with --accept-hooks"},
	}
}

// notForShell reports whether shell hooks do not get an event, or only Python
// plugins can answer it.
func notForShell(c *events.Contract) bool {
	return strings.Contains(c.Name, ":") || strings.HasPrefix(c.Name, "transform_")
}
