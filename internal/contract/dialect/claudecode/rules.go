package claudecode

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// ownRule finds a rule of Claude Code's permissions that denies a line or asks about it. After a
// PreToolUse hook has given another command, Claude Code holds its rules against that one alone, as
// seen in 2.1.197: Bash(curl:*) does not fit a line that begins with another program.
func ownRule(home, cwd, line string, read func(string) ([]byte, error)) string {
	for _, file := range ruleFiles(home, cwd) {
		text, err := read(file)
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
	for dir := cwd; ; dir = filepath.Dir(dir) {
		files = append(files, filepath.Join(dir, s.Project), filepath.Join(dir, s.Dir, "settings.local.json"))
		if dir == filepath.Dir(dir) {
			return files
		}
	}
}

// ruleNames reports whether a rule such as Bash(curl:*) may be about a line; in doubt it is. The
// texts between its stars must all be somewhere in the line.
func ruleNames(rule, line string) bool {
	inside, ok := strings.CutPrefix(rule, "Bash")
	if !ok {
		return false
	}
	inside = strings.TrimSuffix(strings.TrimPrefix(inside, "("), ")")
	inside, _, _ = strings.Cut(inside, ":*")
	for part := range strings.SplitSeq(inside, "*") {
		if !strings.Contains(line, strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}
