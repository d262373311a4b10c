package librefang

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says where LibreFang keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Manual: "it reads the hooks directory itself; what it sends to hookd's socket reaches every hook: see docs/reference/protocol.md",
	}
}
