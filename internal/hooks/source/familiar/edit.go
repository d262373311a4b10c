package familiar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/hooks/hook"
	"mvdan.cc/sh/v3/syntax"
)

// edit replaces a stretch of the marked text.
type edit struct {
	from, to int
	text     string
}

// place makes the edits for the marks in one literal, quoted string, comment
// or literal here-document.
func (c *compiler) place(path []syntax.Node) {
	switch n := path[len(path)-1].(type) {
	case *syntax.Redirect:
		c.openHeredoc(n)
	case *syntax.Comment:
		for _, m := range c.marksIn(n) {
			c.placed[m.char] = true
		}
	case *syntax.SglQuoted:
		c.splitQuotes(n, path)
	case *syntax.Lit:
		for _, m := range c.marksIn(n) {
			if !c.placed[m.char] {
				c.placed[m.char] = true
				c.replace(m, path)
			}
		}
	}
}

// splitQuotes ends single quotes before each mark and begins them again after
// it. Empty ones are left out: for bash they are text in some patterns.
func (c *compiler) splitQuotes(n *syntax.SglQuoted, path []syntax.Node) {
	marks := c.marksIn(n)
	if len(marks) == 0 {
		return
	}
	if why := misplacedQuotes(path); why != "" {
		for _, m := range marks {
			c.misplaced(m, why)
		}
		return
	}
	from, to := span(n)
	e := edit{from: from, to: to}
	from++
	literal := func(to int) {
		if from < to {
			e.text += "'" + c.text[from:to] + "'"
		}
	}
	for _, m := range marks {
		c.placed[m.char] = true
		at := strings.IndexRune(c.text, m.char)
		literal(at)
		e.text += c.reference(m.name, formBare)
		from = at + markLen
	}
	literal(to - 1)
	c.edits = append(c.edits, e)
}

// replace makes the edit for one mark in the last node of path.
func (c *compiler) replace(m mark, path []syntax.Node) {
	at := strings.IndexRune(c.text, m.char)
	f, why := formAt(path)
	if why != "" {
		c.misplaced(m, why)
		return
	}
	from, before := at, ""
	if f != formArithmetic {
		from, before = c.beforeMark(at, f, path)
	}
	c.edits = append(c.edits, edit{from, at + markLen, before + c.reference(m.name, f)})
}

func (c *compiler) misplaced(m mark, why string) {
	c.placed[m.char] = true
	c.problem(strings.IndexRune(c.text, m.char), hook.Problem{
		Message: fmt.Sprintf("placeholder %s cannot stand %s", m.text, why),
		Hint:    "give it to a variable first, v=" + m.text + ", and use \"$v\" here",
	})
}

// beforeMark returns the replacement of a backslash or dollar right before a mark, which
// would change the meaning of the reference.
func (c *compiler) beforeMark(at int, f form, path []syntax.Node) (from int, before string) {
	switch {
	case trailing(c.text[:at], '\\')%2 == 1:
		if f == formDouble {
			return at - 1, `\\` // it was literal there
		}
		return at - 1, "" // it quoted the mark, which the reference does too
	case c.literalDollar(at) && !afterExpansion(path, at):
		return at - 1, `\$`
	}
	return at, ""
}

func trailing(s string, char byte) int { return len(s) - len(strings.TrimRight(s, string(char))) }

// afterExpansion reports whether the text that ends at offset at is an expansion such
// as $$, no literal dollar.
func afterExpansion(path []syntax.Node, at int) bool {
	var parts []syntax.WordPart
	switch p := path[len(path)-2].(type) {
	case *syntax.Word:
		parts = p.Parts
	case *syntax.DblQuoted:
		parts = p.Parts
	}
	for _, part := range parts {
		if _, ok := part.(*syntax.ParamExp); ok && int(part.End().Offset()) == at {
			return true
		}
	}
	return false
}

// openHeredoc turns a here-document with a quoted delimiter, in which nothing
// expands, into one where nothing expands but the references.
func (c *compiler) openHeredoc(r *syntax.Redirect) {
	if r.Hdoc == nil || len(c.marksIn(r.Hdoc)) == 0 {
		return
	}
	from, to := span(r.Word)
	delimiter, quoted := unquotedDelimiter(c.text[from:to])
	if !quoted {
		return
	}
	if !plainDelimiter.MatchString(delimiter) || !literal(r.Hdoc) {
		c.errorf(from, "a here-document with placeholders needs a delimiter of letters and digits, such as 'EOF'")
		return
	}
	c.edits = append(c.edits, edit{from, to, delimiter})
	from, to = span(r.Hdoc)
	for _, m := range c.marksIn(r.Hdoc) {
		c.placed[m.char] = true
		at := strings.IndexRune(c.text, m.char)
		text := literalInHeredoc.Replace(c.text[from:at]) + c.reference(m.name, formDouble)
		c.edits = append(c.edits, edit{from, at + markLen, text})
		from = at + markLen
	}
	c.edits = append(c.edits, edit{from, to, literalInHeredoc.Replace(c.text[from:to])})
}

// literal reports whether the parser took a word for plain text. It overlooks
// that a word with an empty quote in it is quoted: a shell expands nothing there.
func literal(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.Lit)
		return !ok
	})
}

// reference returns the reference to the variable name in the form f.
func (c *compiler) reference(name string, f form) string {
	b := binding{name: name, arithmetic: f == formArithmetic}
	for _, known := range c.bindings {
		if known.name == b.name && known.arithmetic == b.arithmetic {
			return fmt.Sprintf(string(f), known.env)
		}
	}
	b.env = fmt.Sprintf("%s%d", c.prefix, len(c.bindings)+1)
	c.bindings = append(c.bindings, b)
	return fmt.Sprintf(string(f), b.env)
}

// unusedPrefix returns a prefix for variables that the script does not name.
func unusedPrefix(script string) string {
	prefix := "familiar_value_"
	for strings.Contains(script, prefix) {
		prefix += "_"
	}
	return prefix
}

// references counts the references that the edits made.
func (c *compiler) references() int {
	n := 0
	for _, e := range c.edits {
		n += strings.Count(e.text, "{"+c.prefix)
	}
	return n
}

// apply makes the edits, which do not overlap.
func apply(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	copied := 0
	for _, e := range edits {
		out.WriteString(text[copied:e.from])
		out.WriteString(e.text)
		copied = e.to
	}
	out.WriteString(text[copied:])
	return out.String()
}

// span returns the offsets of a node in the marked text.
func span(n syntax.Node) (from, to int) { return int(n.Pos().Offset()), int(n.End().Offset()) }

// marksIn returns the marks in a node's text, in order.
func (c *compiler) marksIn(n syntax.Node) []mark {
	if len(c.marks) == 0 {
		return nil
	}
	from, to := span(n)
	text := c.text[from:min(to, len(c.text))]
	var found []mark
	for _, m := range c.marks {
		if strings.ContainsRune(text, m.char) {
			found = append(found, m)
		}
	}
	return found
}
