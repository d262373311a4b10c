package vscode

import (
	"runtime"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where Visual Studio Code looks for hooks, and how one is written there.
// Copilot's command line reads the same folder and knows none of the keys for one
// system alone, so it does not run these.
func Settings() neutral.Settings {
	key := "linux"
	if runtime.GOOS == "darwin" {
		key = "osx"
	}
	return neutral.Settings{
		Programs: "code code-insiders codium",
		Trace:    ".vscode", Dir: ".copilot", File: "hooks/hookd-vscode.json",
		Project: ".github/hooks/hookd-vscode.json",
		Format:  neutral.FormatJSON, At: []string{"hooks"}, Shape: neutral.Handlers,
		Keys: neutral.Keys{Command: key, Timeout: "timeout"}, Lead: neutral.TypeCommand, Unit: time.Second,
		Longest: 10 * time.Minute,
		Runs:    &neutral.Foreign{Agent: events.ClaudeCode, By: "Visual Studio Code", Title: "Claude Code"},
	}
}
