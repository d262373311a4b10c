package codex

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Codex keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "codex",
		Ships:    &ships, Reach: reach,
		DirEnv: "CODEX_HOME", Dir: ".codex", File: "hooks.json", Project: ".codex/hooks.json",
		Managed: neutral.Managed{
			Linux: "/etc/codex/hooks.json", MacOS: "/etc/codex/hooks.json",
			Beside: &neutral.Whole{
				Path: "/etc/codex/requirements.toml",
				Text: "# Users cannot switch hooks off. Written by hookd connect codex --managed.\n[features]\nhooks = true\n",
				Else: "so that no user switches hooks off, write into it: [features], and below it: hooks = true",
			},
		},
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Shell: true, Unit: time.Second,
		Import:    neutral.ImportsCommands,
		OwnList:   &ownList,
		NoMatcher: true, // a matcher is a regular expression, and * is none
		After:     []string{"Codex runs a new hook when you trust it: start codex and type /hooks"},
		Other: &neutral.OtherFile{
			Name: "config.toml", Format: neutral.FormatTOML,
			Switches: []neutral.Toggle{feature("hooks"), feature("codex_hooks")},
			Hooks:    "hooks", Except: "state", Say: " has hooks too: Codex runs both files and warns about it",
		},
	}
}

// feature is a feature that Codex runs no hooks without.
func feature(name string) neutral.Toggle {
	return neutral.Toggle{
		Path: []string{"features", name},
		Say:  "`features." + name + "` is false there: Codex runs no hooks until it is removed",
	}
}
