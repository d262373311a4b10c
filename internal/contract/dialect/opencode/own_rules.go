package opencode

import (
	"path/filepath"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownRule finds a pattern of OpenCode's permissions for bash that denies a line or asks about it. OpenCode
// holds them against the line that a plugin has given alone, as seen in 1.18. Which of several patterns
// counts is not looked at.
func ownRule(home, cwd, line string, look neutral.Looks) string {
	folders := []string{filepath.Join(home, ".config/opencode")}
	for _, dir := range neutral.Upwards(cwd) {
		folders = append(folders, dir, filepath.Join(dir, ".opencode"))
	}
	for _, dir := range folders {
		for _, name := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
			text, _ := look.Read(filepath.Join(dir, name)) // it is not there, or OpenCode cannot read it either
			for _, of := range bash().FindAllSubmatch(text, -1) {
				for _, m := range stops().FindAllSubmatch(of[1], -1) {
					if pattern := string(m[1]); pattern != "*" && neutral.MayFit(pattern, line) {
						return string(m[0])
					}
				}
			}
		}
	}
	return ""
}

var (
	bash  = neutral.Lazy(`"bash"\s*:\s*\{([^{}]*)\}`)
	stops = neutral.Lazy(`"([^"]*)"\s*:\s*"(?:deny|ask)"`)
)
