package windsurf

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says where Windsurf keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "windsurf",
		Dir:      ".codeium/windsurf", File: "hooks.json", Project: ".windsurf/hooks.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Shape: neutral.Handlers,
		Keys: neutral.Keys{Command: "command"},
	}
}
