package goose

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where goose looks for plugins, and describes the plugin of hookd. A
// matcher is a regular expression, and * is none.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "goose", Trace: ".config/goose",
		Dir: ".agents/plugins/hookd", File: "hooks/hooks.json", Project: ".agents/plugins/hookd/hooks/hooks.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		Unit: time.Second, Longest: 10 * time.Minute, NoMatcher: true,
		Manifest: neutral.Manifest{
			Name: "../plugin.json",
			Text: `{
  "name": "hookd",
  "version": "1.0.0",
  "description": "Runs the hooks of hookd"
}
`,
		},
		Skip: neutral.Only("BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution"),
		// they tell events a second time that the others tell
	}
}
