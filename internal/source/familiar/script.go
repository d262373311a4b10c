package familiar

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/hook"
	"mvdan.cc/sh/v3/syntax"
)

// Compile turns a POSIX shell script with placeholders into one that refers to
// variables instead. What is wrong with it is told by line and column of the
// script; a problem that is no warning means that there is no Script.
func Compile(script string) (*Script, []hook.Problem) {
	c := &compiler{script: script}
	s := c.compile()
	if slices.ContainsFunc(c.problems, func(p hook.Problem) bool { return !p.Warning }) {
		return nil, c.problems
	}
	return s, c.problems
}

// compiler gathers what becomes of one script.
type compiler struct {
	script   string
	text     string // with marks in place of placeholders
	marks    []mark
	edits    []edit
	placed   map[rune]bool // marks that an edit replaces, or that a comment holds
	bindings []binding
	prefix   string // of the variables' names
	problems []hook.Problem
	echoes   []hook.Problem // values that an echo may change; they matter to guards
}

// edit replaces a stretch of the marked text.
type edit struct {
	from, to int
	text     string
}

func (c *compiler) compile() *Script {
	if !utf8.ValidString(c.script) || strings.ContainsRune(c.script, 0) {
		c.errorf(0, "script is not UTF-8 text")
		return nil
	}
	var err error
	if c.text, c.marks, err = markUp(c.script); err != nil {
		c.errorf(0, "%v", err)
		return nil
	}
	file := c.parse()
	if file != nil && len(c.marks) > 0 {
		file = c.untick(file)
	}
	if file == nil {
		return nil
	}
	c.prefix = unusedPrefix(c.script)
	c.placed = map[rune]bool{}
	c.walk(file, c.place)
	c.examine(file)
	c.complete()
	if len(c.problems) > 0 && !allWarnings(c.problems) {
		return nil
	}
	s := &Script{text: unmark(apply(c.text, c.edits), c.marks), bindings: c.bindings, echoes: c.echoes}
	if err := verify(s.text, c.prefix, len(c.edits) > 0, c.references()); err != nil {
		c.errorf(0, "%v", err)
	}
	return s
}

func allWarnings(problems []hook.Problem) bool {
	return !slices.ContainsFunc(problems, func(p hook.Problem) bool { return !p.Warning })
}

// parse parses the marked text, nil after a problem.
func (c *compiler) parse() *syntax.File {
	file, err := parseShell(c.text)
	if err == nil {
		return file
	}
	offset, message := 0, err.Error()
	switch e := err.(type) {
	case syntax.ParseError:
		offset, message = int(e.Pos.Offset()), e.Text
	case syntax.LangError:
		offset = int(e.Pos.Offset())
		_, message, _ = strings.Cut(message, ": ")
	}
	c.problem(offset, hook.Problem{
		Message: "script: " + unmark(message, c.marks),
		Hint:    "hooks run in /bin/sh",
	})
	return nil
}

func parseShell(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
}

// walk calls visit with every node and the nodes above it, outermost first.
func (c *compiler) walk(root syntax.Node, visit func(path []syntax.Node)) {
	var path []syntax.Node
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		visit(path)
		return true
	})
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
// it. Empty ones are left out: bash loses its way in ${v-”"$w"}.
func (c *compiler) splitQuotes(n *syntax.SglQuoted, path []syntax.Node) {
	marks := c.marksIn(n)
	if len(marks) == 0 {
		return
	}
	if why := misplacedQuotes(path); why != "" {
		c.misplaced(marks[0], why)
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
	if f == formBare || f == formDouble {
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

// beforeMark says what becomes of a backslash or dollar that stands right
// before a mark and would change the meaning of the reference.
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

// afterExpansion reports whether what ends at offset at is an expansion such
// as $$, and not a literal dollar.
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
	if !plainDelimiter.MatchString(delimiter) {
		c.errorf(from, "a here-document with placeholders needs a delimiter of letters and digits, such as 'EOF'")
		return
	}
	c.edits = append(c.edits, edit{from, to, delimiter})
	from, to = span(r.Hdoc)
	for _, m := range c.marksIn(r.Hdoc) {
		c.placed[m.char] = true
		at := strings.IndexRune(c.text, m.char)
		c.edits = append(c.edits, edit{from, at + markLen, literalInHeredoc.Replace(c.text[from:at]) + c.reference(m.name, formDouble)})
		from = at + markLen
	}
	c.edits = append(c.edits, edit{from, to, literalInHeredoc.Replace(c.text[from:to])})
}

// reference returns the text that stands for the variable name in the form f.
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

// complete makes sure that no placeholder was overlooked.
func (c *compiler) complete() {
	for _, m := range c.marks {
		if !c.placed[m.char] {
			c.errorf(max(0, strings.IndexRune(c.text, m.char)), "placeholder %s cannot stand here", m.text)
		}
	}
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

// span returns where a node stands in the marked text.
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

func (c *compiler) errorf(offset int, format string, args ...any) {
	c.problem(offset, hook.Problem{Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) problem(offset int, p hook.Problem) {
	p.Line, p.Column = position(c.script, original(offset, c.marks))
	c.problems = append(c.problems, p)
}
