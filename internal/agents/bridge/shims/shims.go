// Package shims holds the plugins by which hookd serves agents that have no
// hook commands, only plugins in their own process. Each
// is one TypeScript file that speaks lines on hookd's socket; `hookd connect`
// writes it where the agent looks for plugins.
//
// The files make the promises of the bridge: no verdict is no opinion, at once
// where hookd does not run; nothing is thrown into the agent but the denial of
// a tool call where that is the agent's own way to say it; a call that waits
// for hooks ends before the agent gives up. They keep connections open and use
// them again. The package itself only hands out text.
package shims

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// File is one file of a plugin.
type File struct {
	Name string // relative to the plugin's folder
	Text []byte
}

// Plugin has the files that connect installs for one agent.
type Plugin struct {
	// Dir is the plugin's folder, relative to the user's home. It is the
	// plugin's own where Own is set, and one shared by all plugins otherwise.
	Dir string
	Own bool
	// ProjectDir is the same, relative to a project; "" = the agent loads none from there.
	ProjectDir string
	// Files stand in the folder; the first is the program.
	Files []File
}

var (
	//go:embed line.ts
	line string
	//go:embed opencode.ts
	openCode string
	//go:embed openclaw.ts
	openClaw string
	//go:embed openclaw.plugin.json
	openClawManifest string
	//go:embed pi.ts
	pi string
	//go:embed amp.ts
	amp string
)

var plugins = map[string]func() Plugin{
	"opencode": func() Plugin {
		return Plugin{
			Dir: ".config/opencode/plugins", ProjectDir: ".opencode/plugins",
			Files: []File{{"hookd.ts", program(openCode)}},
		}
	},
	"kilo": func() Plugin {
		return Plugin{
			Dir: ".config/kilo/plugin", ProjectDir: ".kilo/plugin",
			Files: []File{{"hookd.ts", program(kilo.Replace(openCode))}},
		}
	},
	"pi": func() Plugin {
		return Plugin{
			Dir: ".pi/agent/extensions", ProjectDir: ".pi/extensions",
			Files: []File{{"hookd.ts", program(pi)}},
		}
	},
	"amp": func() Plugin {
		return Plugin{
			Dir: ".config/amp/plugins", ProjectDir: ".amp/plugins",
			Files: []File{{"hookd.ts", program(amp)}},
		}
	},
	"openclaw": func() Plugin {
		return Plugin{
			Dir: ".openclaw/extensions/hookd", Own: true,
			Files: []File{{"index.ts", program(openClaw)}, {"openclaw.plugin.json", []byte(openClawManifest)}},
		}
	},
}

// kilo makes OpenCode's plugin that of Kilo, which began as OpenCode and calls plugins
// as it does.
var kilo = strings.NewReplacer("opencode", "kilo", "OpenCode", "Kilo")

// program is an agent's part and the part they share, as one file.
func program(agent string) []byte { return []byte(agent + "\n" + line) }

// Deadline is how long an agent waits for its plugin where Settings say nothing else.
const Deadline = time.Minute

// Settings are the values that `hookd connect` writes into a plugin.
type Settings struct {
	Socket     string `json:"socket"`     // absolute path; "" = the agent's environment says
	FailClosed bool   `json:"failClosed"` // deny where hookd does not answer; false = the agent's environment says
	DeadlineMS int64  `json:"deadlineMS"` // how long the agent waits for hookd; 0 = Deadline
}

// settingsLine is the line that holds them, in the part that programs share.
var settingsLine = regexp.MustCompile(`(?m)^const connected = (\{.*\})$`)

// SettingsOf reads them from a plugin's text; ok is false where it has none.
func SettingsOf(text []byte) (s Settings, ok bool) {
	m := settingsLine.FindSubmatch(text)
	return s, m != nil && json.Unmarshal(m[1], &s) == nil
}

// In returns a plugin's text with the settings in it. A text that has none stays.
func (s Settings) In(text []byte) []byte {
	line, err := json.Marshal(s)
	if err != nil || (s == Settings{}) { // as it is written down
		return text
	}
	return settingsLine.ReplaceAllLiteral(text, append([]byte("const connected = "), line...))
}

// For returns the plugin of an agent; ok is false if it has none.
func For(agent string) (p Plugin, ok bool) {
	make, ok := plugins[agent]
	if !ok {
		return Plugin{}, false
	}
	return make(), true
}
