package openclaw

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where OpenClaw keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "openclaw",
		Ships:    &ships, Reach: reach,
		DirEnv: "OPENCLAW_STATE_DIR", HomeEnv: "OPENCLAW_HOME", Dir: ".openclaw", File: "extensions/hookd",
		Files:   neutral.Plugin,
		Longest: 10 * time.Minute, OwnDir: true,
		Entry: &neutral.Entry{
			Env: "OPENCLAW_CONFIG_PATH", File: "openclaw.json", At: []string{"plugins"}, Leaves: pluginEntry,
			Switches: []neutral.Toggle{{
				Path: []string{"plugins", "enabled"},
				Say:  "`plugins.enabled` is false there: OpenClaw loads no plugin until it is removed",
			}, {
				Path: []string{"plugins", "entries", "hookd", "enabled"},
				Say:  "`plugins.entries.hookd.enabled` is false there: OpenClaw calls no hook until it is true",
			}, {
				Path: []string{"plugins", "entries", "hookd", "hooks", "allowConversationAccess"},
				Say: "`plugins.entries.hookd.hooks.allowConversationAccess` is false there: " +
					"OpenClaw tells hookd of no prompt and no end of a turn until it is true",
			}},
		},
		After: []string{
			"OpenClaw calls a plugin because of its entry in openclaw.json; with `allowConversationAccess` " +
				"it tells hookd of prompts and of the end of turns",
			"start OpenClaw's gateway again",
		},
	}
}

// pluginEntry enables the plugin, and lists it where only listed ones are loaded.
// Without an entry OpenClaw loads a plugin and calls none of its hooks.
func pluginEntry(tree map[string]any) []neutral.Leaf {
	leaves := []neutral.Leaf{
		{Path: []string{"plugins", "entries", "hookd"}, Key: "enabled", Value: true},
		{Path: []string{"plugins", "entries", "hookd", "hooks"}, Key: "allowConversationAccess", Value: true},
	}
	if list, _ := neutral.Value(tree, "plugins", "allow").([]any); len(list) > 0 {
		leaves = append(leaves, neutral.Leaf{Path: []string{"plugins"}, Key: "allow", Value: "hookd", List: true})
	}
	return leaves
}
