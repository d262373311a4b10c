package cline

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says where Cline keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "cline", Trace: "Documents/Cline",
		Ships: &ships, Reach: reach,
		Dir: "Documents/Cline/Hooks", Project: ".clinerules/hooks", Named: true, Files: neutral.Scripts, Shell: true,
	}
}
