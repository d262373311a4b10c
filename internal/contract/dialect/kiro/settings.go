package kiro

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says how hooks stand in an agent's file of Kiro's command line. Each agent
// has a file of its own, in ~/.kiro/agents.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "kiro-cli", Dir: ".kiro", File: "agents", Given: true,
		Format: neutral.FormatJSON, At: []string{"hooks"}, Shape: neutral.Handlers,
		Keys: neutral.Keys{Command: "command", Timeout: "timeout_ms"}, Unit: time.Millisecond,
		Longest: 10 * time.Minute,
	}
}
