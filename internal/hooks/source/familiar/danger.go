package familiar

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hookd/hookd/internal/hooks/hook"
	"mvdan.cc/sh/v3/syntax"
)

// examine finds values that become program text, where no quoting helps, and
// constructs that some /bin/sh reads as a language other than POSIX. Following
// values is by name only: flows that a script hides (functions, files, pipes through
// other programs) are not found.
func (c *compiler) examine(file *syntax.File) {
	if len(c.marks) == 0 {
		return
	}
	t := c.taints(file)
	c.walk(file, func(path []syntax.Node) {
		switch n := path[len(path)-1].(type) {
		case *syntax.CallExpr:
			t.call(n)
		case *syntax.Stmt:
			t.heredocProgram(n)
		case *syntax.BinaryCmd:
			t.pipedProgram(n)
		case *syntax.ArithmExp:
			t.arithmetic(n)
		case *syntax.Subshell:
			t.doubleParens(n)
		case *syntax.SglQuoted:
			c.dollarQuotes(n)
		case *syntax.Lit:
			c.dollarBracket(n)
		}
	})
}

// call looks at one simple command.
func (t *taints) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	first := n.Args[0]
	name := static(first)
	switch from, to := span(first); {
	case subscript.MatchString(t.c.text[from:to]) && t.holds(first) != nil:
		t.c.errorf(from, "a placeholder cannot stand in [ ] of an assignment: in some shells that is computed")
		return
	case name == "[[" && computes(n.Args) && t.anyHolds(n.Args) != nil:
		t.c.errorf(from, "[[ with a number comparison computes its operands as program text: use [ … ]")
		return
	case name == "echo":
		for _, w := range n.Args[1:] {
			t.note(&t.c.echoes, t.find(w, false),
				"echo in /bin/sh may read backslashes in %s as escapes: \\c there ends the output, "+
					"and with it what a guard sees", `use printf '%s\n' instead of echo`)
		}
	}
	t.program(n.Args)
}

// subscript begins a word of the form name[….
var subscript = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\[`)

// computes reports whether a [[ … ]] compares numbers or looks at variables.
func computes(args []*syntax.Word) bool {
	for _, w := range args {
		switch static(w) {
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v":
			return true
		}
	}
	return false
}

func (t *taints) anyHolds(words []*syntax.Word) syntax.Node {
	for _, w := range words {
		if found := t.holds(w); found != nil {
			return found
		}
	}
	return nil
}

// program warns of values in the command's name or in program text.
func (t *taints) program(args []*syntax.Word) {
	args = unwrapped(args)
	if len(args) == 0 {
		return
	}
	if found := t.holds(args[0]); found != nil {
		t.note(&t.c.problems, found, "%s is the name of a command: the source of its value chooses what runs", "")
		return
	}
	name := base(static(args[0]))
	for _, w := range programText(name, args[1:]) {
		if found := t.holds(w); found != nil {
			t.warnProgram(found, name)
			return
		}
	}
	if rest := commandIn(name, args[1:]); len(rest) > 0 {
		t.program(rest)
	}
}

func (t *taints) warnProgram(at syntax.Node, name string) {
	t.note(&t.c.problems, at, "%s is pasted into program text of "+name+": the source of its value chooses what runs",
		`pass it as an argument, as in: sh -c 'echo "$1"' sh {{tool_name}}`)
}

// heredocProgram looks for an interpreter that reads its program from a
// here-document.
func (t *taints) heredocProgram(s *syntax.Stmt) {
	name := readsProgram(s)
	if name == "" {
		return
	}
	for _, r := range s.Redirs {
		if r.Hdoc != nil {
			if found := t.holds(r.Hdoc); found != nil {
				t.warnProgram(found, name)
			}
		}
	}
}

// pipedProgram looks for … {{x}} … | sh.
func (t *taints) pipedProgram(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe {
		return
	}
	if name := readsProgram(b.Y); name != "" {
		if found := t.holds(b.X); found != nil {
			t.warnProgram(found, name)
		}
	}
}

// arithmetic warns of a variable that holds a value and is computed with: it
// was not checked to be a number.
func (t *taints) arithmetic(n *syntax.ArithmExp) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return false
		case *syntax.Lit:
			if t.names[n.Value] {
				t.note(&t.c.problems, n,
					"%s is computed with and need not be a number: some shells run what it says",
					"write the placeholder itself in $((…)): there it must be a number")
			}
		}
		return true
	})
}

// doubleParens rejects ((…)), which is a command in POSIX and arithmetic in
// other shells.
func (t *taints) doubleParens(n *syntax.Subshell) {
	from, _ := span(n)
	if strings.HasPrefix(t.c.text[from:], "((") && t.holds(n) != nil {
		t.c.errorf(from, "((…)) with a placeholder is not for /bin/sh: use $((…)) or [ … ]")
	}
}

// dollarQuotes rejects $'…' with escapes: shells disagree where it ends.
func (c *compiler) dollarQuotes(n *syntax.SglQuoted) {
	from, to := span(n)
	if c.literalDollar(from) && (strings.Contains(c.text[from:to], `\`) || len(c.marksIn(n)) > 0) {
		c.errorf(from-1, "$'…' does not mean the same in every /bin/sh: use '…' or printf")
	}
}

// dollarBracket rejects $[…], which some shells compute.
func (c *compiler) dollarBracket(n *syntax.Lit) {
	from, to := span(n)
	if at := strings.Index(c.text[from:min(to, len(c.text))], "$["); at >= 0 && c.literalDollar(from+at+1) {
		c.errorf(from+at, "$[…] does not mean the same in every /bin/sh: use $((…))")
	} else if strings.HasPrefix(c.text[from:], "[") && c.literalDollar(from) {
		c.errorf(from-1, "$[…] does not mean the same in every /bin/sh: use $((…))")
	}
}

// literalDollar reports whether a $ that no backslash quotes ends before at.
func (c *compiler) literalDollar(at int) bool {
	return strings.HasSuffix(c.text[:at], "$") && trailing(c.text[:at-1], '\\')%2 == 0
}

// note adds a warning about the value that at brings.
func (t *taints) note(list *[]hook.Problem, at syntax.Node, format, hint string) {
	if at == nil {
		return
	}
	from, to := span(at)
	what := t.c.text[from:min(to, len(t.c.text))]
	if marks := t.c.marksIn(at); len(marks) > 0 {
		from, what = strings.IndexRune(t.c.text, marks[0].char), marks[0].text
	} else if !strings.HasPrefix(what, "$") {
		what = "$" + what
	}
	p := hook.Problem{Message: fmt.Sprintf(format, what), Hint: hint, Warning: true}
	p.Line, p.Column = position(t.c.script, original(from, t.c.marks))
	*list = append(*list, p)
}
