package deepagents

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Settings says which step a person can take: a command is a list of words there, which
// connect does not write.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "deepagents", Dir: ".deepagents", File: "hooks.json",
		Manual: `its hooks only watch and can deny nothing. To have their events in hookd, put ` +
			`{"hooks": [{"command": ["hookd-bridge", "deepagents"]}]} into ~/.deepagents/hooks.json`,
	}
}
