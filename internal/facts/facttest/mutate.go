package facttest

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Mutation is another spelling of a line that does the same.
type Mutation struct {
	Kind string // how it is spelled
	Line string
}

// Mutations returns other spellings of a line, the same ones each time: quoted and split words, absolute paths of
// programs, programs that run the command, options abbreviated, joined and taken apart, other names of tables, and
// constructs around the line. There are none of a line that does not parse. Some may have another effect than the
// line, such as an abbreviation that is ambiguous: a jail tells.
func Mutations(line string) []Mutation {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	m := mutator{line: line}
	if !strings.Contains(line, "<<") {
		m.around()
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			m.command(call)
		}
		return true
	})
	m.names()
	return m.list
}

type mutator struct {
	line string
	list []Mutation
}

func (m *mutator) add(kind, line string) {
	is := func(o Mutation) bool { return o.Line == line }
	if line != m.line && !slices.ContainsFunc(m.list, is) {
		m.list = append(m.list, Mutation{kind, line})
	}
}

// put adds the line with text in the place of a node.
func (m *mutator) put(kind string, n syntax.Node, text string) {
	m.add(kind, m.line[:n.Pos().Offset()]+text+m.line[n.End().Offset():])
}

// around adds the line inside constructs of the shell.
func (m *mutator) around() {
	if strings.Contains(m.line, "\n") || strings.Contains(m.line, "#") {
		return
	}
	quoted, err := syntax.Quote(m.line, syntax.LangBash)
	if err == nil {
		m.add("inner shell", "bash -c "+quoted)
		m.add("eval", "eval "+quoted)
	}
	m.add("after another", "cd . && "+m.line)
	m.add("second line", "ls >/dev/null\n"+m.line)
	if !strings.HasSuffix(strings.TrimSpace(m.line), "&") {
		m.add("condition", "if true; then "+m.line+"; fi")
		m.add("function", "f() { "+m.line+"; }; f")
		m.add("subshell", "( "+m.line+" )")
	}
}

// builtins have no file, or do not the same as a child.
var builtins = strings.Fields(`. : [ alias bg bind break builtin cd command compgen complete continue coproc
	declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local
	logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap
	true type typeset ulimit umask unalias unset wait`)

var (
	plain     = regexp.MustCompile(`^[A-Za-z0-9][\w./:@+-]*$`)
	shorts    = regexp.MustCompile(`^-[a-zA-Z]{2,4}$`)
	short     = regexp.MustCompile(`^-[a-zA-Z]$`)
	long      = regexp.MustCompile(`^--[a-z][a-z-]{3,}(=.*)?$`)
	splitting = strings.Fields("rm cp mv chmod git ls")
)

// command adds other spellings of a command that stands in the line as it is.
func (m *mutator) command(call *syntax.CallExpr) {
	program := call.Args[0].Lit()
	if !plain.MatchString(program) || m.line[call.Args[0].Pos().Offset():call.Args[0].End().Offset()] != program {
		return
	}
	first := call.Args[0]
	m.put("quoted program", first, "'"+program+"'")
	m.put("backslash", first, program[:1]+`\`+program[1:])
	m.put("split program", first, program[:1]+`""`+program[1:])
	isFile := !slices.Contains(builtins, program) && !strings.Contains(program, "/")
	if isFile {
		m.put("absolute path", first, "/usr/bin/"+program)
		for _, before := range []string{"command ", "env ", "sudo ", "sudo -n -- ", "nice -n 5 ", "timeout 20 ", "env -u X A=1 "} {
			m.put("run by "+strings.Fields(before)[0], first, before+program)
		}
	}
	for i, arg := range call.Args[1:] {
		m.argument(program, call.Args[1:], i, arg)
	}
}

func (m *mutator) argument(program string, args []*syntax.Word, i int, arg *syntax.Word) {
	text := arg.Lit()
	if text == "" || m.line[arg.Pos().Offset():arg.End().Offset()] != text {
		return
	}
	switch {
	case long.MatchString(text):
		name, value, hasValue := strings.Cut(text, "=")
		if hasValue {
			value = "=" + value
		}
		for cut := 1; cut <= 3 && len(name)-cut >= len("--x")+1; cut++ {
			m.put("abbreviated option", arg, name[:len(name)-cut]+value)
		}
		m.put("quoted option", arg, `"`+name+`"`+value)
	case shorts.MatchString(text) && slices.Contains(splitting, program):
		m.put("short options apart", arg, "-"+strings.Join(strings.Split(text[1:], ""), " -"))
		m.put("quoted option", arg, "'"+text+"'")
	case short.MatchString(text) && slices.Contains(splitting, program):
		if i+1 < len(args) && short.MatchString(args[i+1].Lit()) {
			next := args[i+1]
			m.add("short options joined", m.line[:arg.End().Offset()]+next.Lit()[1:]+m.line[next.End().Offset():])
		}
	case plain.MatchString(text) && len(text) > 1:
		m.put("quoted argument", arg, `"`+text+`"`)
		m.put("split argument", arg, text[:1]+"''"+text[1:])
		m.put("backslash in an argument", arg, text[:1]+`\`+text[1:])
	}
}

var (
	table   = regexp.MustCompile(`(?i)\b(table(?: if exists)?|from|truncate|update) (users|customers|orders)\b`)
	keyword = regexp.MustCompile(`(?i)\b(drop|truncate|delete) (table|from|database|schema)\b`)
)

// names adds other names of tables, and the words of SQL in capitals.
func (m *mutator) names() {
	for _, name := range []string{"public.customer_order_history", "CUSTOMER_ACCOUNTS", "shop.users_2026_archive", "a"} {
		m.add("table "+name, table.ReplaceAllString(m.line, "${1} "+name))
	}
	m.add("capitals", keyword.ReplaceAllStringFunc(m.line, strings.ToUpper))
	m.add("small letters", keyword.ReplaceAllStringFunc(m.line, strings.ToLower))
	m.add("more blanks", keyword.ReplaceAllString(m.line, "$1  $2"))
}
