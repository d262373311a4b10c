package familiar

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/hooks/hook"
	"mvdan.cc/sh/v3/syntax"
)

// Compile turns a POSIX shell script with placeholders into one with
// variables instead. Problems have line and column in the script; with a problem that is no
// warning the Script is nil.
func Compile(script string) (*Script, []hook.Problem) {
	c := &compiler{script: script}
	s := c.compile()
	if hook.Rejects(c.problems) {
		return nil, c.problems
	}
	return s, c.problems
}

// maxScript bounds a script, in bytes: it is one argument of the shell, and
// systems allow 128 KiB for that.
const maxScript = 96 << 10

// compiler compiles one script.
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

func (c *compiler) compile() *Script {
	if len(c.script) > maxScript {
		c.errorf(0, "script is longer than %d bytes: put it in a file and run that", maxScript)
		return nil
	}
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
	if hook.Rejects(c.problems) {
		return nil
	}
	s := &Script{text: unmark(apply(c.text, c.edits), c.marks), bindings: c.bindings, echoes: c.echoes}
	if err := verify(s.text, c.prefix, c.references()); err != nil {
		c.errorf(0, "%v", err)
	}
	return s
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
	parser := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangPOSIX))
	return parser.Parse(strings.NewReader(text), "")
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

// complete makes sure that no placeholder was overlooked.
func (c *compiler) complete() {
	for _, m := range c.marks {
		if !c.placed[m.char] {
			c.errorf(max(0, strings.IndexRune(c.text, m.char)), "placeholder %s cannot stand here", m.text)
		}
	}
}

func (c *compiler) errorf(offset int, format string, args ...any) {
	c.problem(offset, hook.Problem{Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) problem(offset int, p hook.Problem) {
	p.Line, p.Column = position(c.script, original(offset, c.marks))
	c.problems = append(c.problems, p)
}
