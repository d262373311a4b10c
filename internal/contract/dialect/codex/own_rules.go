package codex

import (
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownRule finds a prefix_rule of Codex that forbids a line or has a person asked. Codex holds its rules
// against the line that a hook has given alone, as seen in 0.169.
func ownRule(home, cwd, line string, look neutral.Looks) string {
	s := Settings()
	folders := []string{"/etc/codex/rules", filepath.Join(home, s.Dir, "rules")}
	for _, dir := range neutral.Upwards(cwd) {
		folders = append(folders, filepath.Join(dir, s.Dir, "rules"))
	}
	for _, dir := range folders {
		for _, text := range look.Texts(dir, ".rules") {
			for _, rule := range strings.Split(text, "prefix_rule")[1:] {
				if denies().MatchString(rule) && prefixFits(rule, line) {
					pattern, _, _ := strings.Cut(rule, "decision")
					return "prefix_rule" + strings.Join(strings.Fields(pattern), " ") + " …"
				}
			}
		}
	}
	return ""
}

// denies finds the decision of a rule that stops a call.
var denies = neutral.Lazy(`decision\s*=\s*["'](?:forbidden|prompt)["']`)

// prefixFits reports whether the pattern of a rule may be about a line; in doubt it is. Each element of the
// pattern must be in the line, of a list within it one.
func prefixFits(rule, line string) bool {
	_, list, _ := strings.Cut(rule, "pattern")
	depth, fits, one := 0, true, false
	for list != "" {
		at := strings.IndexAny(list, `[]"'`)
		if at < 0 {
			return fits
		}
		switch c := list[at]; c {
		case '[':
			depth, one = depth+1, false
			list = list[at+1:]
		case ']':
			if depth--; depth == 0 {
				return fits
			}
			fits, list = fits && one, list[at+1:]
		default:
			word, rest, _ := strings.Cut(list[at+1:], string(c))
			is := strings.Contains(line, word)
			one = one || is
			if depth == 1 {
				fits = fits && is
			}
			list = rest
		}
	}
	return fits
}
