package shellsafe

import (
	"slices"
	"strings"
)

// arg is one word of a command after expansion, as far as it can be told
// without running anything.
type arg struct {
	text    string // the literal text; of a computed word what stands before the computed part
	dynamic bool   // a part is computed when the command runs
	split   bool   // that part may become several words
	pattern bool   // it has an unquoted * ? or [
	solid   bool   // computed, but sure not to begin with a dash
	number  bool   // a part is a number that is computed; text has 1 in its place
	vanish  bool   // it may turn out to be no word at all
	guess   string // what a computed word may well be, "" = no idea
	src     string // how it is written in the line; "" = it is not
}

// written is the word as people know it from the line.
func (a arg) written() string {
	switch {
	case a.src != "":
		return a.src
	case a.text == "" && a.dynamic:
		return "a computed word"
	case a.text == "":
		return "''"
	}
	return a.text
}

// mayBeFlag reports whether the word may turn out to be a flag: a pattern, too, if
// a file that it fits has such a name.
func (a arg) mayBeFlag() bool {
	if a.pattern && a.text != "" && strings.IndexByte("*?[", a.text[0]) >= 0 {
		return true
	}
	return a.dynamic && (a.split || a.text == "" && !a.solid || a.text != "" && a.text[0] == '-')
}

// line is a command's words sorted into flags and others.
type line struct {
	flags  []string // names, those of a cluster also one by one
	exact  []string // names as written: -rf is -rf
	before []string // names of those before the first other word
	words  []arg    // others; values of flags are none
	all    []arg
}

// sortArgs sorts args. valued are flags that take the next word; they only
// count before the first other word, where global flags stand.
func sortArgs(args []arg, valued []string) line {
	l := line{all: args}
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if text == "--" && !args[i].dynamic {
			l.flags, l.exact = append(l.flags, "--"), append(l.exact, "--")
			l.words = append(l.words, args[i+1:]...)
			break
		}
		if len(text) < 2 || text[0] != '-' {
			l.words = append(l.words, args[i])
			continue
		}
		name := l.addFlag(text)
		if len(l.words) == 0 && slices.Contains(valued, name) && !strings.Contains(text, "=") && i+1 < len(args) {
			i++
		}
	}
	return l
}

func (l *line) addFlag(text string) (name string) {
	name, _, _ = strings.Cut(text, "=")
	l.flags, l.exact = append(l.flags, name), append(l.exact, name)
	if len(l.words) == 0 {
		l.before = append(l.before, name)
	}
	if !strings.HasPrefix(name, "--") {
		for _, r := range name[1:] {
			l.flags = append(l.flags, "-"+string(r))
		}
	}
	return name
}

// has reports whether a flag may be given: in a cluster of short ones, or as
// the beginning of a long one, which many programs take for it.
func (l *line) has(flag string) bool {
	for _, f := range l.flags {
		if f == flag || len(f) >= 4 && strings.HasPrefix(f, "--") && strings.HasPrefix(flag, f) {
			return true
		}
	}
	return false
}

func (l *line) hasAny(flags []string) bool { return slices.ContainsFunc(flags, l.has) }

// begins reports whether the words begin with path.
func (l *line) begins(path []string) bool {
	if len(l.words) < len(path) {
		return false
	}
	for i, p := range path {
		if l.words[i].dynamic || strings.ToLower(l.words[i].text) != p {
			return false
		}
	}
	return true
}

// text is all words in a row.
func (l *line) text() string {
	parts := make([]string, len(l.all))
	for i, a := range l.all {
		parts[i] = a.text
	}
	return strings.Join(parts, " ")
}

// fits reports whether a destructive entry fits the line; input is what is
// known of its standard input. In doubt it fits.
func (e *entry) fits(l *line, input string) bool {
	switch {
	case !l.begins(e.path), len(e.Flags) > 0 && !l.hasAny(e.Flags):
		return false
	case slices.ContainsFunc(e.Deny, func(f string) bool { return slices.Contains(l.exact, f) }):
		return false
	case slices.ContainsFunc(e.All, func(f string) bool { return !l.has(f) }):
		return false
	case e.words != nil && !slices.ContainsFunc(l.all, func(a arg) bool { return e.words.MatchString(a.text) }):
		return false
	}
	return e.text == nil || e.text.MatchString(l.text()+"\n"+input)
}

// culprit is the first word for which the entry fits.
func (e *entry) culprit(l *line) string {
	for _, a := range l.all {
		one := sortArgs([]arg{a}, nil)
		if len(e.Flags) > 0 && one.hasAny(e.Flags) || e.words != nil && e.words.MatchString(a.text) {
			return a.written()
		}
	}
	return ""
}
