package gemini

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownRule finds a rule of Gemini CLI's policies that denies a line or has a person asked. Gemini CLI holds
// them against the line that a hook has given alone, as seen in 0.61.
func ownRule(home, cwd, line string, look neutral.Looks) string {
	s := Settings()
	folders := []string{
		"/etc/gemini-cli/policies", "/Library/Application Support/GeminiCli/policies", filepath.Join(home, s.Dir, "policies"),
	}
	for _, dir := range neutral.Upwards(cwd) {
		folders = append(folders, filepath.Join(dir, s.Dir, "policies"))
	}
	for _, dir := range folders {
		for _, text := range look.Texts(dir, ".toml") {
			for _, rule := range strings.Split(text, "[[rule]]")[1:] {
				if m := stops().FindStringSubmatch(rule); m != nil {
					if by := named(rule, line); by != "" {
						return by
					}
				}
			}
		}
	}
	return ""
}

var (
	// stops finds the decision of a rule that stops a call.
	stops = neutral.Lazy(`(?m)^\s*decision\s*=\s*["'](deny|ask_user)["']`)
	// of finds the word of a rule about a command line.
	of = neutral.Lazy(`(?m)^\s*(commandPrefix|commandRegex|argsPattern)\s*=\s*(\[[^\]]*\]|"(?:[^"\\]|\\.)*"|'[^']*')`)
	// texts are strings of TOML.
	texts = neutral.Lazy(`"((?:[^"\\]|\\.)*)"|'([^']*)'`)
)

// named returns the part of a rule by which it may be about a line; "" = none. A rule about all lines fits
// one in a box, too.
func named(rule, line string) string {
	m := of().FindStringSubmatch(rule)
	if m == nil {
		return ""
	}
	for _, text := range texts().FindAllStringSubmatch(m[2], -1) {
		said := text[2]
		if text[1] != "" {
			said = strings.ReplaceAll(text[1], `\\`, `\`)
		}
		whole := line
		if m[1] == "argsPattern" {
			whole = string(rawjson.With(nil, rawjson.StringMember("command", line)))
		}
		pattern, err := regexp.Compile(said)
		if m[1] == "commandPrefix" {
			pattern, err = regexp.Compile(regexp.QuoteMeta(said))
		}
		if err != nil || pattern.MatchString(whole) {
			return m[1] + " = " + strings.TrimSpace(m[2])
		}
	}
	return ""
}
