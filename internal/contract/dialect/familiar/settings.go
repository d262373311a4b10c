package familiar

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says where Familiar keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Manual: "give each AGENT.md a script hook that pipes {{json_context}} into `hookd-bridge familiar EVENT`: see docs/reference/agents.md",
	}
}
