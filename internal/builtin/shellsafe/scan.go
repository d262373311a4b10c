package shellsafe

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// scan goes through one command line and all those within it.
type scan struct {
	known     *taxonomy
	braces    bool              // the shell expands {a,b}
	functions map[string]bool   // declared in the line, in whatever way
	declared  map[string]span   // those that are sure to be declared, and where
	vars      map[string]string // assigned in the line, to literal text
	values    values
	source    string // the line that is read
	posix     []span // what POSIX shells read in another way than bash
	reopened  bool   // descriptors are moved about
	found     []finding
}

// text is how a node is written.
func (s *scan) text(node syntax.Node) string {
	from, to := node.Pos().Offset(), node.End().Offset()
	if !node.Pos().IsValid() || from >= to || to > uint(len(s.source)) {
		return ""
	}
	return s.source[from:to]
}

func (s *scan) add(f finding) {
	if f.what = shortened(f.what); len(s.found) < maxFound {
		s.found = append(s.found, f)
	}
}

func (s *scan) unknown(what, reason string) {
	s.add(finding{Unknown, CategoryUnknown, what, reason})
}

// shortened keeps a part of the line short, on one line and without anything
// that a terminal would take for more than text.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxPart {
		text = text[:maxPart-3]
		for len(text) > 0 && text[len(text)-1] >= 0x80 {
			text = text[:len(text)-1]
		}
		text += "..."
	}
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 && utf8.ValidString(text) {
		return text
	}
	escaped := strconv.Quote(text)
	return strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `"`)
}

// written is a command as it stands in the line.
func written(program string, args []arg) string {
	parts := []string{program}
	for _, a := range args {
		parts = append(parts, a.written())
	}
	return strings.Join(parts, " ")
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
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		s.unknown("the line", "has control characters")
		s.guessing(func() { s.read(text, depth) })
		return
	}
	s.read(text, depth)
}

// read reads a command line in each language in which it can be parsed.
func (s *scan) read(text string, depth int) {
	source, posix, braces := s.source, s.posix, s.braces
	s.source = text
	defer func() { s.source, s.posix, s.braces = source, posix, braces }()
	parsed := false
	for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangZsh} {
		file, err := parse(text, lang)
		if err != nil {
			continue
		}
		s.braces = lang != syntax.LangPOSIX
		s.posix = nil
		if lang == syntax.LangPOSIX {
			s.posix = bashOnly(text)
		}
		s.file(file, depth)
		parsed = true
		if plain(text) {
			return // all shells agree
		}
	}
	if !parsed {
		s.unknown("the line", "cannot be parsed")
	}
}

// bashOnly returns where a line has [[ … ]] or (( … )): words to a POSIX shell,
// which runs them or finds no program of such a name.
func bashOnly(text string) (spans []span) {
	if !strings.Contains(text, "[[") && !strings.Contains(text, "((") {
		return nil
	}
	file, err := parse(text, syntax.LangBash)
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.TestClause, *syntax.ArithmCmd:
			spans = append(spans, span{node.Pos().Offset(), node.End().Offset()})
		}
		return true
	})
	return spans
}

// plain reports whether text has nothing that shells read differently.
func plain(text string) bool {
	return !strings.ContainsAny(text, "{}[]()<>&=~^#!@%?*+$`\\'\"\n")
}

// keepDestructive drops the unknown findings after the first n: what they are
// about may not be what the shell runs.
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
	outer := *s
	s.vars = maps.Clone(s.vars)
	s.functions, s.declared, s.values = map[string]bool{}, map[string]span{}, values{}
	s.reopened = reopens(file)
	s.declare(file)
	s.values = s.collect(file)
	inputs := pipes(file, s)
	syntax.Walk(file, func(node syntax.Node) bool {
		s.construct(node)
		switch node := node.(type) {
		case *syntax.Stmt:
			s.statement(node, inputs[node], depth)
		case *syntax.FuncDecl:
			s.function(node)
		case *syntax.DeclClause:
			s.assigns(node.Args, s.exports(node))
		}
		return true
	})
	s.functions, s.declared, s.reopened = outer.functions, outer.declared, outer.reopened
	s.vars, s.values = outer.vars, outer.values
}

// specialBuiltin is a name that a POSIX shell takes for its own before it
// looks for a function.
var specialBuiltin = regexp.MustCompile(
	`^(?:[.:]|break|continue|eval|exec|exit|export|readonly|return|set|shift|source|times|trap|unset|command|builtin)$`)

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
	for _, stmt := range file.Stmts {
		decl, ok := stmt.Cmd.(*syntax.FuncDecl)
		if !ok || stmt.Background || len(stmt.Redirs) > 0 ||
			decl.Name == nil || specialBuiltin.MatchString(decl.Name.Value) {
			continue
		}
		if _, ok := decl.Body.Cmd.(*syntax.Block); !ok || decl.Body.Background || len(decl.Body.Redirs) > 0 {
			continue // the body may be more than the shell takes for it
		}
		if _, again := s.declared[decl.Name.Value]; !again {
			s.declared[decl.Name.Value] = span{decl.End().Offset(), file.End().Offset() + 1}
		}
	}
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

// printed is what a statement writes, if it is an echo or printf whose text no
// shell changes.
func (s *scan) printed(stmt *syntax.Stmt) input {
	in := input{piped: true}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(stmt.Redirs) > 0 {
		return in
	}
	args := s.args(call.Args)
	name, args := args[0].text, args[1:]
	if name != "echo" && name != "printf" {
		return in
	}
	var words []string
	in.known = !s.functions[name] && len(call.Assigns) == 0
	for _, a := range args {
		in.known = in.known && !a.dynamic && !a.pattern && !strings.ContainsAny(a.text, `\`)
		if a.guess != "" {
			words = append(words, a.guess)
		} else {
			words = append(words, a.text)
		}
	}
	in.text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.Join(words, " "))
	if name == "echo" {
		in.known = in.known && (len(args) == 0 || !strings.HasPrefix(args[0].text, "-"))
		return in
	}
	return s.formatted(args, in)
}

// formatted is what a printf writes: known if its format is plain text, or
// only puts each word on a line.
func (s *scan) formatted(args []arg, in input) input {
	if len(args) == 0 {
		return in
	}
	format := args[0].text
	text := strings.TrimSuffix(format, `\n`)
	plainArgs := !slices.ContainsFunc(args[1:], func(a arg) bool {
		return a.dynamic || a.pattern || strings.Contains(a.text, `\`)
	})
	switch {
	case args[0].dynamic || args[0].pattern || strings.HasPrefix(format, "-"):
		in.known = false
	case len(args) == 1:
		in.known = !strings.ContainsAny(strings.ReplaceAll(text, `\n`, ""), `\%`)
	default:
		in.known = format == `%s\n` && plainArgs && !s.functions["printf"]
		if in.known {
			in.text = strings.Join(texts(args[1:]), "\n")
		}
	}
	return in
}

func texts(args []arg) []string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = a.text
	}
	return list
}

// statement looks at a statement's redirections and, if it is a simple
// command, at that.
func (s *scan) statement(stmt *syntax.Stmt, in input, depth int) {
	if slices.ContainsFunc(s.posix, func(p span) bool { return p.has(stmt.Pos().Offset()) }) {
		s.posixWords(stmt, depth)
		return
	}
	for _, r := range stmt.Redirs {
		if given, ok := s.redirect(r); ok {
			in = given
		}
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	before := len(s.found)
	if len(call.Args) > 0 {
		s.simple(call, s.args(call.Args), in, depth)
	}
	s.callAssigns(call, len(s.found) > before)
}

// posixWords looks at what stands in [[ … ]] or (( … )) as a POSIX shell
// would: operators, numbers and the values of variables are no programs.
func (s *scan) posixWords(stmt *syntax.Stmt, depth int) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	args := s.args(call.Args)
	if name := args[0]; !name.dynamic && variableName.MatchString(name.text) && s.values.of[name.text] == nil {
		s.command(args, input{}, depth)
		return
	}
	s.guessing(func() { s.command(args, input{}, depth) })
}

// simple looks at a command that may be a function of the line. It is one for
// sure only if the declaration stands before it on the line's own level; else
// it may as well be the program of that name.
func (s *scan) simple(call *syntax.CallExpr, args []arg, in input, depth int) {
	if !args[0].dynamic && s.functions[args[0].text] {
		sure, ok := s.declared[args[0].text]
		if ok && sure.has(call.Pos().Offset()) {
			return // its body is looked at where it stands
		}
	}
	s.command(args, in, depth)
}

// callAssigns looks at the assignments before a command, or instead of one.
func (s *scan) callAssigns(call *syntax.CallExpr, asks bool) {
	if len(call.Args) == 0 {
		s.assigns(call.Assigns, false)
		return
	}
	for _, a := range call.Assigns {
		if a.Name == nil || a.Name.Value == "IFS" && s.word(call.Args[0]).text == "read" {
			continue
		}
		value := s.word(a.Value)
		given := arg{text: a.Name.Value + "=" + value.text, dynamic: value.dynamic, src: s.text(a)}
		s.environment(a.Name.Value, given, asks)
	}
}

// environment looks at a variable that a command is given. If the command asks
// anyway, only one that is known to change what programs do adds to that.
func (s *scan) environment(name string, a arg, asks bool) {
	switch {
	case asks && !s.known.isDangerous(name), s.known.harmless.MatchString(name):
		return
	case !a.dynamic && s.known.pagers.MatchString(a.text):
		return
	}
	s.unknown(a.written(), "is a variable that may change what programs do")
}

// function looks at a declaration; the body is looked at by itself. A function
// that runs itself in a pipe or in the background has no end.
func (s *scan) function(decl *syntax.FuncDecl) {
	if decl.Name == nil {
		s.unknown(s.text(decl), "is a function of one shell")
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

// exports reports whether a declaration gives its variables to every program
// that follows.
func (s *scan) exports(decl *syntax.DeclClause) bool {
	return decl.Variant.Value == "export" || slices.ContainsFunc(decl.Args, func(a *syntax.Assign) bool {
		return a.Name == nil && a.Value != nil && strings.Contains(s.word(a.Value).text, "x")
	})
}

// assigns looks at assignments: some variables decide what programs do, and
// any may that is exported and not known to be harmless.
func (s *scan) assigns(list []*syntax.Assign, exported bool) {
	for _, a := range list {
		switch {
		case a.Name == nil:
		case exported && !s.known.harmless.MatchString(a.Name.Value), s.known.isDangerous(a.Name.Value) && !a.Naked:
			s.environmentOrAsk(a)
		}
	}
}

func (s *scan) environmentOrAsk(a *syntax.Assign) {
	value := s.word(a.Value)
	if !value.dynamic && s.known.pagers.MatchString(a.Name.Value+"="+value.text) {
		return
	}
	reason := "is a variable that may change what programs do"
	if s.known.isDangerous(a.Name.Value) {
		reason = "is a variable that changes what programs do"
	}
	s.unknown(s.text(a), reason)
}
