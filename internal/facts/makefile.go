package facts

import (
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

var (
	makeAssign = lazyregexp.New(`^\s*(?:export\s+|override\s+)*([A-Za-z_.][A-Za-z0-9_.]*)\s*(\+=|\?=|!=|::?:?=|=)\s*(.*)$`)
	makeName   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// makefile follows a text that make reads: its recipes, $(shell …), and the commands of `!=`.
// Conditions are taken to hold.
func (s *toolScript) makefile() {
	m := makeReader{c: s.finder, sh: s.nested("make"), vars: map[string]string{}}
	prefix := "\t"
	for line := range strings.Lines(strings.ReplaceAll(s.w.Text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, is := strings.CutPrefix(line, prefix); is {
			m.recipe(recipe)
			continue
		}
		if found := makeAssign.FindStringSubmatch(line); found != nil {
			switch value := m.expand(found[3]); {
			case found[1] == ".RECIPEPREFIX" && value != "":
				prefix = value[:1]
			case found[2] == "!=":
				m.recipe(found[3])
			case found[1] == "SHELL" || found[1] == ".SHELLFLAGS":
				s.doubt(DoubtVariable, "the makefile says which program runs its recipes")
			default:
				m.vars[found[1]] = value
			}
			continue
		}
		if name, rest, has := strings.Cut(strings.TrimSpace(line), " "); has &&
			(name == "include" || name == "-include" || name == "sinclude" || name == "load") {
			s.started(Word{Text: rest, Kind: Literal}, "make")
			continue
		}
		if _, recipe, has := strings.Cut(line, ";"); has && strings.Contains(line, ":") {
			m.recipe(recipe)
			continue
		}
		m.expand(line)
	}
}

type makeReader struct {
	c    *finder
	sh   *shell
	vars map[string]string
}

// recipe follows a line that make gives to a shell.
func (m *makeReader) recipe(line string) {
	line = strings.TrimLeft(strings.TrimSpace(line), "@-+ \t")
	text := m.expand(line)
	kind := Literal
	if strings.Contains(text, unknownPart) {
		kind = Unknown
	}
	m.c.shellText(m.sh, Word{Text: text, Kind: kind})
}

// expand gives the text with its references to variables replaced by their values, and those to
// the environment as a shell writes them.
func (m *makeReader) expand(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			end := closingBracket(text, i)
			b.WriteString(m.reference(text[min(i+1, end):end])) // a bracket may end the text
			i = end
		default:
			b.WriteString("make-target")
		}
	}
	return b.String()
}

// reference is the value of the text in $(…).
func (m *makeReader) reference(text string) string {
	name, rest, isCall := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case isCall && name == "shell":
		m.recipe(rest)
		return unknownPart
	case isCall && (name == "eval" || name == "call" || name == "file" || name == "guile" || name == "foreach"):
		m.c.doubt(DoubtEval, "the makefile makes a part of itself: "+short(text))
		return unknownPart
	case isCall || !makeName.MatchString(name):
		m.expand(rest)
		return "make-value"
	}
	if value, known := m.vars[name]; known {
		return m.sh.r.expanded(Word{Text: value}).Text
	}
	return "${" + name + "}"
}

// closingBracket returns the index of the bracket that closes the one at from, or the last index.
func closingBracket(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}
