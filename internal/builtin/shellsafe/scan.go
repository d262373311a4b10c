package shellsafe

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scan goes through one command line and all those within it.
type scan struct {
	known     *taxonomy
	braces    bool              // the shell expands {a,b}
	functions map[string]bool   // declared in the line: their bodies are looked at
	vars      map[string]string // assigned in the line, to literal text
	found     []finding
}

func (s *scan) add(f finding) {
	if f.what = shortened(f.what); len(s.found) < maxFound {
		s.found = append(s.found, f)
	}
}

func (s *scan) unknown(what, reason string) {
	s.add(finding{Unknown, CategoryUnknown, what, reason})
}

// shortened keeps a name in a message short and on one line.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 60 {
		text = text[:57]
		for len(text) > 0 && text[len(text)-1] >= 0x80 {
			text = text[:len(text)-1]
		}
		text += "..."
	}
	return text
}

// line reads a command line as each shell would that may get it. bash decides;
// what another shell would destroy counts too.
func (s *scan) line(text string, depth int) {
	switch {
	case len(text) > maxLine:
		s.unknown("the line", "is too long to be looked at")
		return
	case depth > maxDepth:
		s.unknown("the line", "has too many lines within lines")
		return
	case strings.ContainsRune(text, 0):
		s.unknown("the line", "has a NUL byte")
		return
	}
	parsed := false
	for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangZsh} {
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil {
			continue
		}
		before := len(s.found)
		s.braces = lang != syntax.LangPOSIX
		s.file(file, depth)
		if parsed {
			s.keepDestructive(before)
		}
		parsed = true
		if plain(text) {
			return // all shells agree
		}
	}
	if !parsed {
		s.unknown("the line", "cannot be parsed")
	}
}

// plain reports whether text has nothing that shells read differently.
func plain(text string) bool {
	return !strings.ContainsAny(text, "{}[]()<>&=~^#!@%?*+$`\\'\"\n")
}

// keepDestructive drops the unknown findings after the first n: a second
// reading is only there to see more harm.
func (s *scan) keepDestructive(n int) {
	rest := slices.DeleteFunc(s.found[n:], func(f finding) bool { return f.radius == Unknown })
	s.found = s.found[:n+len(rest)]
}

// guessing runs look and keeps what it finds destroyed: the words it is given
// may be what the shell runs, and may not.
func (s *scan) guessing(look func()) {
	before := len(s.found)
	look()
	s.keepDestructive(before)
}

// file looks at every statement of a parsed line.
func (s *scan) file(file *syntax.File, depth int) {
	outer, vars := maps.Clone(s.functions), s.vars
	s.vars = maps.Clone(s.vars)
	s.declare(file)
	inputs := pipes(file, s)
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			s.statement(node, inputs[node], depth)
		case *syntax.FuncDecl:
			s.function(node)
		case *syntax.DeclClause:
			s.assigns(node.Args, node.Variant.Value)
		case *syntax.CoprocClause:
			s.unknown("coproc", "runs in the background")
		}
		return true
	})
	s.functions, s.vars = outer, vars
}

// declare collects the functions and the variables of a line before it is
// looked at: a loop may use what is assigned further down. A variable that is
// assigned twice, or computed, has no value that could be guessed.
func (s *scan) declare(file *syntax.File) {
	times := map[string]int{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.FuncDecl:
			if node.Name != nil {
				s.functions[node.Name.Value] = true
			}
			for _, n := range node.Names {
				s.functions[n.Value] = true
			}
		case *syntax.Assign:
			if node.Name == nil || node.Value == nil {
				break
			}
			name := node.Name.Value
			if times[name]++; times[name] == 1 && !node.Append && node.Index == nil {
				if a := s.word(node.Value); !a.dynamic {
					s.vars[name] = a.text
					break
				}
			}
			delete(s.vars, name)
		}
		return true
	})
}

// input is what is known of a command's standard input.
type input struct {
	text  string
	known bool // text is all of it
	piped bool // it comes from another command
}

// pipes finds out what each statement gets from the one before it in a pipe,
// where that is an echo or printf of literal text.
func pipes(file *syntax.File, s *scan) map[*syntax.Stmt]input {
	inputs := map[*syntax.Stmt]input{}
	syntax.Walk(file, func(node syntax.Node) bool {
		bin, ok := node.(*syntax.BinaryCmd)
		if !ok || bin.Op != syntax.Pipe && bin.Op != syntax.PipeAll {
			return true
		}
		inputs[bin.Y] = s.printed(bin.X)
		return true
	})
	return inputs
}

// printed is what a statement writes, if it is an echo or printf.
func (s *scan) printed(stmt *syntax.Stmt) input {
	in := input{piped: true}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(stmt.Redirs) > 0 {
		return in
	}
	args := s.args(call.Args)
	if args[0].text != "echo" && args[0].text != "printf" {
		return in
	}
	var words []string
	in.known = true
	for _, a := range args[1:] {
		in.known = in.known && !a.dynamic
		if a.guess != "" {
			words = append(words, a.guess)
		} else {
			words = append(words, a.text)
		}
	}
	in.text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.Join(words, " "))
	return in
}

// statement looks at a statement's redirections and, if it is a simple
// command, at that.
func (s *scan) statement(stmt *syntax.Stmt, in input, depth int) {
	for _, r := range stmt.Redirs {
		if given, ok := s.redirect(r); ok {
			in = given
		}
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	s.assigns(call.Assigns, "")
	if len(call.Args) > 0 {
		s.command(s.args(call.Args), in, depth)
	}
}

// function looks at a declaration; the body is looked at by itself. A function
// that runs itself in a pipe or in the background has no end.
func (s *scan) function(decl *syntax.FuncDecl) {
	if decl.Name == nil {
		return
	}
	name := decl.Name.Value
	again := false
	syntax.Walk(decl.Body, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 && s.word(call.Args[0]).text == name {
			again = true
		}
		return true
	})
	if again {
		s.add(finding{High, "proc-bomb", name, "is a function that runs itself"})
	}
}

// assigns looks at assignments: some variables decide what programs do. The
// shell's own words -p, -x and so on stand among those of a declaration.
func (s *scan) assigns(list []*syntax.Assign, declared string) {
	for _, a := range list {
		if a.Name != nil && s.known.dangerous.MatchString(a.Name.Value) && (!a.Naked || declared == "export") {
			s.unknown(a.Name.Value+"=", "is a variable that changes what programs do")
		}
		if a.Name == nil && a.Value != nil && s.word(a.Value).mayBeFlag() {
			s.unknown(declared, "declares what cannot be told")
		}
	}
}
