package vscode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says which step a person can take. Visual Studio Code has no place of its
// own for hooks: it runs the hooks of Copilot's command line, which in turn runs every
// file that is put there for Visual Studio Code.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "code code-insiders codium",
		Manual:   "it runs the hooks of Copilot's command line: type `hookd connect copilot`, which serves both",
	}
}
