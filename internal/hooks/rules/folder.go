package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/facts"
)

// fitsCwd holds the globs of `cwd` against a folder; a glob with `/**` at its end fits the folder itself.
func (m *Matcher) fitsCwd(folder string) bool { return m.Cwd.fits(folder, folder+"/") }

// staysIn reports whether no word of a call leads out of the folders of `cwd`: by cd, by an option
// such as -C, or as a path of its own. In doubt it does not.
func (m *Matcher) staysIn(s *Subject) bool {
	return s.Facts == nil || !slices.ContainsFunc(s.Facts.Commands, func(c facts.Command) bool {
		name, known := c.Program()
		moves := slices.Contains([]string{"cd", "chdir", "pushd", "popd"}, name)
		named := slices.ContainsFunc(c.Words[min(1, len(c.Words)):], func(w facts.Word) bool {
			return w.Kind == facts.Literal && w.Text != "" && w.Text != "-" && !strings.HasPrefix(w.Text, "+")
		})
		return !known || moves && !named || slices.ContainsFunc(c.Words, func(w facts.Word) bool {
			return moves && w.Kind != facts.Literal || m.leadsOut(s.Cwd, w.Text)
		})
	})
}

// leadsOut reports whether a word, or the value of an option in it, is a path outside.
func (m *Matcher) leadsOut(cwd, word string) bool {
	texts := []string{word}
	if _, value, ok := strings.Cut(word, "="); ok {
		texts = append(texts, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' { // -C/folder
		texts = append(texts, word[2:])
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		text = strings.TrimPrefix(text, "file://")
		above := slices.Contains(strings.Split(text, "/"), "..")
		switch {
		case strings.HasPrefix(text, "~"):
			return true
		case strings.HasPrefix(text, "/"):
			return !m.fitsCwd(path.Clean(text))
		case above:
			return !m.fitsCwd(path.Join(cwd, text))
		}
		return false
	})
}
