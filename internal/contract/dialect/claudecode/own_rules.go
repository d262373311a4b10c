package claudecode

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownRule finds a rule of Claude Code's permissions that denies a line or asks about it. After a
// PreToolUse hook has given another command, Claude Code holds its rules against that one alone, as
// seen in 2.1.197: Bash(curl:*) does not fit a line that begins with another program.
func ownRule(home, cwd, line string, look neutral.Looks) string {
	for _, file := range ruleFiles(home, cwd) {
		text, err := look.Read(file)
		if err != nil {
			continue // it is not there, or Claude Code cannot read it either
		}
		var s struct {
			Permissions struct{ Deny, Ask []string }
		}
		if json.Unmarshal(text, &s) != nil {
			continue
		}
		for _, rule := range slices.Concat(s.Permissions.Deny, s.Permissions.Ask) {
			if ruleNames(rule, line) {
				return rule
			}
		}
	}
	return ""
}

// ruleFiles lists the files that Claude Code takes rules from.
func ruleFiles(home, cwd string) []string {
	s := Settings()
	files := []string{s.Managed.Linux, s.Managed.MacOS, filepath.Join(home, s.Dir, s.File)}
	for _, dir := range neutral.Upwards(cwd) {
		files = append(files, filepath.Join(dir, s.Project), filepath.Join(dir, s.Dir, "settings.local.json"))
	}
	return files
}

// ruleNames reports whether a rule such as Bash(curl:*) may be about a line; in doubt it is.
func ruleNames(rule, line string) bool {
	inside, ok := strings.CutPrefix(rule, "Bash")
	if !ok {
		return false
	}
	inside = strings.TrimSuffix(strings.TrimPrefix(inside, "("), ")")
	inside, _, _ = strings.Cut(inside, ":*")
	return neutral.MayFit(inside, line)
}
