package facts

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// reading is the reading of one call, with its findings so far.
type reading struct {
	env         Env
	start       string   // where shell lines begin; "" = in the folder of env
	variables   []string // that the call itself sets, each as NAME=value
	out         *Facts
	t           *tables
	read        int // bytes of all texts
	steps       int
	expansions  int // bytes that all expansions gave
	traps       []trapped
	made        map[string]*madeFile // files and folders that the call makes, by their targets
	folder      map[string]bool      // of those: all below it is made, too
	links       map[string]string    // where links lead that the call makes
	seeksGuard  bool                 // a command has looked for the process of hookd
	raw         bool                 // a descriptor may lead to a service
	sought      string               // the name of a process that a command has looked for
	killer      *finder              // it ends a process that is only known when it runs
	killsListed bool                 // its number is from a list of ps
	placed      map[Effect]bool      // whose places were looked at
	path        []string             // folders that the call adds to those of programs
	unset       bool                 // variables with a usual value have none
	usual       string               // a variable whose usual value was taken; "" = none was
	defaults    bool                 // a word stands for such a variable, where it has no value
}

// input is the standard input of a command.
type input struct {
	has    bool // it is no terminal
	known  bool // text is the whole
	text   string
	origin string // the command that made it; "" = a file or the line itself
	words  []Word // each of its words is one of these, such as a pattern; nil = not known
	used   *bool  // a command has read a part: the next command gets the rest
}

// takes notes that a command reads of the standard input.
func (sh *shell) takes() {
	if sh.stdin.used != nil {
		*sh.stdin.used = true
	}
}

// output is the output of commands, as far as it is known.
type output struct {
	known  bool
	text   string
	safe   bool   // one word that is no option and no path
	words  []Word // each of its words is one of these, such as a pattern; nil = not known
	origin string // of what is not known: the command
}

// shell is one shell process while a text is followed.
type shell struct {
	place
	r       *reading
	vars    map[string]Word
	funcs   map[string]*syntax.FuncDecl
	src     map[string]string // the text that a function stands in
	params  []Word            // $1 and so on; nil = not known
	zero    *Word             // $0; nil = the name of a shell
	source  string            // the text that is read
	base    Span              // of the text in Facts.Text
	exact   bool              // offsets of the text are those of base
	via     []string
	guess   bool
	where   string // machine or container that it runs on; "" = this one
	stdin   input
	calls   []*syntax.FuncDecl // functions under way
	depth   int
	lost    bool              // the line may not come here: what is assigned may be so
	perhaps map[string]bool   // functions that may not be declared
	locals  []map[string]Word // of each function under way: variables before it made them its own
	forked  bool              // it runs beside others: one side of a pipe, or in the background
	async   bool              // the line does not wait for it
	fixed   map[string]bool   // variables that are read-only
	exports map[string]bool   // variables that programs are given; "*" = all
	client  bool              // the words under way are those of a client of a database
	tests   bool              // the words under way are those of a test, which shows nothing
	sieve   string            // the expression that a grep holds against what it prints; "" = none
}

// place is where a shell is, and was.
type place struct {
	cwd    string   // "" = not known
	old    string   // where cd - leads; "" = not known
	pushed []string // where popd leads, the next folder last
}

// fork is the shell of a subshell or of one side of a pipe.
func (sh *shell) fork() *shell {
	c := *sh
	c.vars, c.funcs, c.src = maps.Clone(sh.vars), maps.Clone(sh.funcs), maps.Clone(sh.src)
	return &c
}

func (sh *shell) span(node syntax.Node) Span {
	if !sh.exact || !node.Pos().IsValid() {
		return sh.base
	}
	return Span{sh.base.From + int(node.Pos().Offset()), sh.base.From + int(node.End().Offset())}
}

func (sh *shell) text(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if !node.Pos().IsValid() || from >= to || to > len(sh.source) {
		return ""
	}
	return sh.source[from:to]
}

func (r *reading) doubt(kind DoubtKind, text string, span Span, command int) {
	d := Doubt{kind, short(text), span, command}
	if len(r.out.Doubts) < maxEffects &&
		!slices.ContainsFunc(r.out.Doubts, func(o Doubt) bool { return o.Kind == kind && o.Text == d.Text }) {
		r.out.Doubts = append(r.out.Doubts, d)
	}
}

func short(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 1024)]), " ")
	if len(text) <= 160 {
		return text
	}
	return escape.Head(text, 157) + "..."
}

// line reads a text as a shell does that begins as sh stands.
func (sh *shell) line(text string) output {
	r := sh.r
	r.read += len(text)
	if len(text) > maxLine || r.read > maxRead || sh.depth > maxDepth {
		r.doubt(DoubtLimits, "the text is too long, or has too many lines within lines", sh.base, -1)
		return output{}
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c == 0 || c == utf8.RuneError }) {
		r.doubt(DoubtParse, "it has NUL or bytes that are no text", sh.base, -1)
		text, sh.exact = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", ""), false
	}
	text = strings.ReplaceAll(text, "\r", "\v") // which the parser leaves out before the end of a line
	if tooNested(text) {
		r.doubt(DoubtLimits, "brackets or commands are nested too deeply", sh.base, -1)
		return sh.unparsed(text)
	}
	file, err := parse(text, syntax.LangBash)
	if err != nil {
		sh.r.doubt(DoubtParse, "bash does not parse the line", sh.base, -1)
		if file, err = parse(text, syntax.LangZsh); err != nil {
			if file, err = parse(text, syntax.LangPOSIX); err != nil {
				return sh.unparsed(text)
			}
		}
	}
	source := sh.source
	sh.source = text
	out := sh.stmts(file.Stmts)
	sh.source = source
	return out
}

// unparsed reads the parts of a text that does not parse, each as a guess.
func (sh *shell) unparsed(text string) output {
	sh.r.doubt(DoubtParse, "the line does not parse", sh.base, -1)
	c := sh.fork()
	c.guess, c.exact, c.depth = true, false, sh.depth+1
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";\n|&`()", r) }) {
		if sh.r.steps > maxUnparsed {
			sh.r.doubt(DoubtLimits, "the line has too many parts that do not parse", sh.base, -1)
			break
		}
		if file, err := parse(part, syntax.LangBash); err == nil {
			c.source = part
			c.stmts(file.Stmts)
		} else if words := strings.Fields(strings.NewReplacer(`'`, " ", `"`, " ").Replace(part)); len(words) > 0 {
			c.run(wordsOf(words), &finder{text: part, span: sh.base})
		}
	}
	return output{}
}

func wordsOf(texts []string) []Word {
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i] = Word{Text: text, Kind: Literal}
	}
	return words
}

// stmts follows statements one after another. Their output is known if all of their outputs are.
func (sh *shell) stmts(list []*syntax.Stmt) output {
	all := output{known: true}
	for i, st := range list {
		out := sh.stmt(st)
		if len(list) == 1 {
			return out
		}
		all.known = all.known && out.known
		all.text += out.text
		if out.origin != "" && all.origin == "" {
			all.origin = out.origin
		}
		if i == len(list)-1 && !all.known && all.text == "" {
			all.safe, all.words = out.safe, out.words
		}
	}
	return all
}

// stmt follows one statement with its redirections.
func (sh *shell) stmt(st *syntax.Stmt) output {
	if st == nil {
		return output{known: true}
	}
	if sh.r.steps++; sh.r.steps > maxSteps {
		sh.r.doubt(DoubtLimits, "the line has too many commands", sh.base, -1)
		return output{}
	}
	in := sh.stdin
	redirects, quiet := sh.redirects(st.Redirs)
	defer func() { sh.stdin = in }()
	if st.Background || st.Coprocess {
		c := sh.fork()
		c.forked, c.async = true, true
		if !sh.stdin.has {
			c.stdin = input{has: true, known: true}
		}
		out := c.command(st, redirects)
		if quiet {
			return output{known: true}
		}
		return out
	}
	out := sh.command(st, redirects)
	if quiet {
		return output{known: true}
	}
	return out
}

// redirects follows redirections. quiet means that the output goes into a file.
func (sh *shell) redirects(list []*syntax.Redirect) (all []Redirect, quiet bool) {
	for _, rd := range list {
		span := sh.span(rd)
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			doc := rd.Hdoc
			if rd.Op == syntax.DashHdoc {
				doc = untabbed(doc)
			}
			w := sh.quoted(doc)
			if isQuoted(rd.Word) {
				w = Word{Text: literalText(doc), Kind: Literal}
			}
			sh.stdin = input{has: true, known: w.Kind != Unknown, text: w.Text, origin: w.from, used: new(bool)}
			continue
		case syntax.WordHdoc:
			w := sh.word(rd.Word)
			sh.stdin = input{has: true, known: w.Kind != Unknown, text: w.Text + "\n", origin: w.from, used: new(bool)}
			continue
		}
		w := sh.word(rd.Word)
		r := Redirect{Op: rd.Op.String(), Target: w, Span: span}
		fd := ""
		if rd.N != nil {
			fd = rd.N.Value
		}
		switch rd.Op {
		case syntax.DplIn, syntax.DplOut:
			if strings.Trim(w.Text, "0123456789-") == "" {
				if fd == "0" || fd == "" && rd.Op == syntax.DplIn {
					sh.stdin = input{has: true, known: w.Text == "-", origin: "another descriptor"}
				}
				continue
			}
		case syntax.RdrIn, syntax.RdrInOut:
			if fd != "" && fd != "0" {
				break
			}
			sh.stdin = input{has: true, known: w.Text == "/dev/null", origin: w.from}
			if w.from == "" && w.Text != "/dev/null" {
				sh.stdin.origin = "file " + w.Text
			}
		}
		if rd.Op != syntax.RdrIn && rd.Op != syntax.RdrInOut && (fd == "" || fd == "1") {
			quiet = true
		}
		all = append(all, r)
		if more := sh.words([]*syntax.Word{rd.Word}); len(more) > 1 { // zsh writes to each
			for _, w := range more {
				r.Target = w
				all = append(all, r)
			}
		}
	}
	return all, quiet
}

// untabbed is a here-document of <<- without the tabs before its lines; a variable's are kept.
func untabbed(doc *syntax.Word) *syntax.Word {
	if doc == nil {
		return nil
	}
	out := &syntax.Word{}
	for i, part := range doc.Parts {
		if lit, is := part.(*syntax.Lit); is {
			cut := *lit
			lines := strings.Split(lit.Value, "\n")
			for j, line := range lines {
				if i == 0 || j > 0 {
					lines[j] = strings.TrimLeft(line, "\t")
				}
			}
			cut.Value = strings.Join(lines, "\n")
			part = &cut
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

func isQuoted(w *syntax.Word) bool {
	return w != nil && slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			return strings.Contains(p.Value, `\`)
		}
		return false
	})
}

func literalText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		}
	}
	return b.String()
}

// apply gives the effects of redirections to the command at index, -1 = none. empties means
// that the command prints nothing, so that a file that is written is emptied.
func (sh *shell) applyRedirects(list []Redirect, index int, out output, empties bool) {
	for _, rd := range list {
		w := rd.Target
		c := &finder{sh: sh, index: index, span: rd.Span, text: rd.Op + " " + w.Text}
		switch {
		case strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/"):
			parts := strings.Split(w.Text, "/")
			kind := KindSend
			if rd.Op == "<" {
				kind = KindConnect
			}
			c.effect(kind, "host:"+parts[min(3, len(parts)-1)], true)
			c.effect(KindConnect, "host:"+parts[min(3, len(parts)-1)], true)
			sh.r.raw = true
			(&guesser{c}).types(out.text)
		case isSink(w.Text):
		case w.from != "" && strings.HasPrefix(w.Text, "/dev/fd/"):
		case rd.Op == "<":
			c.path(KindRead, w)
		case rd.Op == ">>" || rd.Op == "&>>":
			c.path(KindWrite, w)
			c.says(c.anyPath(w), out, true)
		default:
			c.path(KindWrite, w)
			c.says(c.anyPath(w), out, false)
			if (empties || sh.readsItself(c.anyPath(w), index)) && rd.Op != "<>" {
				c.path(KindDelete, w)
			}
		}
	}
}

// readsItself reports whether a command reads the file that its output goes to: the shell empties it
// before the command reads it.
func (sh *shell) readsItself(target string, index int) bool {
	if index >= 0 && target != "" && index < len(sh.r.out.Commands) {
		words := sh.r.out.Commands[index].Words
		if !printsNothing[programName(words[0].Text)] && slices.ContainsFunc(words[1:], func(w Word) bool {
			if w.Kind == Unknown || !strings.ContainsAny(w.Text, "./") {
				return false
			}
			own, _ := sh.absolute(w.Text)
			return own == target
		}) {
			return true
		}
	}
	return index >= 0 && target != "" && slices.ContainsFunc(sh.r.out.Effects, func(e Effect) bool {
		return e.Kind == KindRead && e.Target == target && e.Command >= index
	})
}

func isSink(target string) bool {
	return target == "/dev/null" || target == "/dev/stdout" || target == "/dev/stderr" || target == "/dev/tty" ||
		strings.HasPrefix(target, "/dev/fd/") || strings.HasPrefix(target, "/proc/self/fd/")
}

// command follows the command of a statement.
func (sh *shell) command(st *syntax.Stmt, redirects []Redirect) output {
	if call, simple := st.Cmd.(*syntax.CallExpr); simple {
		return sh.simple(call, redirects, st)
	}
	if st.Cmd == nil {
		sh.applyRedirects(redirects, -1, output{known: true}, true)
		return output{known: true}
	}
	sh.applyRedirects(redirects, -1, output{}, false)
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		return sh.binary(cmd)
	case *syntax.Block:
		return sh.stmts(cmd.Stmts)
	case *syntax.Subshell:
		return sh.fork().stmts(cmd.Stmts)
	case *syntax.IfClause:
		return sh.ifs(cmd)
	case *syntax.WhileClause:
		sh.stmts(cmd.Cond)
		sh.maybe(func() { sh.stmts(cmd.Do); sh.stmts(cmd.Cond); sh.stmts(cmd.Do) })
		return output{}
	case *syntax.ForClause:
		return sh.loop(cmd)
	case *syntax.CaseClause:
		sh.word(cmd.Word)
		var branches []func()
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				sh.word(p)
			}
			branches = append(branches, func() { sh.stmts(item.Stmts) })
		}
		sh.either(append(branches, func() {})...)
		return output{}
	case *syntax.FuncDecl:
		if cmd.RsrvWord && !cmd.Parens { // a command to dash, and what stands in the braces runs at once
			c := sh.fork()
			if c.guess = true; c.params == nil {
				c.params = []Word{}
			}
			c.stmt(cmd.Body)
		}
		if cmd.Name != nil {
			sh.define(cmd.Name.Value, cmd)
		}
		for _, n := range cmd.Names {
			sh.define(n.Value, cmd)
		}
		return output{known: true}
	case *syntax.DeclClause:
		return sh.declare(cmd)
	case *syntax.TestClause:
		sh.inner(cmd)
		return output{known: true}
	case *syntax.ArithmCmd:
		sh.inner(cmd)
		if line := strings.TrimSuffix(strings.TrimPrefix(sh.text(cmd), "(("), "))"); looksLikeLine(line) {
			c := sh.fork() // dash reads a command in two subshells
			c.base, c.exact, c.guess, c.depth = sh.span(cmd), false, true, sh.depth+1
			c.line(line)
		}
		return output{known: true}
	case *syntax.LetClause:
		sh.inner(cmd)
		return output{known: true}
	case *syntax.TimeClause:
		return sh.stmt(cmd.Stmt)
	case *syntax.CoprocClause:
		return sh.coproc(cmd)
	case *syntax.TestDecl:
		return sh.stmt(cmd.Body)
	}
	sh.r.doubt(DoubtParse, "a part of the line is not read", sh.span(st), -1)
	return output{}
}

// coproc follows coproc NAME { …; }. Its output goes to a pipe of the shell's own.
func (sh *shell) coproc(cmd *syntax.CoprocClause) output {
	list, before := cmd.Stmt.Cmd.(*syntax.BinaryCmd)
	out := coprocess(sh, cmd)
	if before && cmd.Name != nil && (list.Op == syntax.Pipe || list.Op == syntax.PipeAll) {
		return out // of what stands behind the pipe
	}
	return output{origin: "coproc"}
}

// coprocess follows its commands. Before a simple command there is no name: it is its first word.
func coprocess(sh *shell, cmd *syntax.CoprocClause) output {
	c := sh.fork()
	if inner, is := cmd.Stmt.Cmd.(*syntax.CallExpr); is && len(cmd.Stmt.Redirs) > 0 && len(inner.Args) > 1 &&
		inner.Args[0].End() == cmd.Stmt.Redirs[0].Pos() && descriptor.MatchString(inner.Args[0].Lit()) {
		st, call := *cmd.Stmt, *inner // coproc 2>o m, coproc {fd}>o m: the parser takes 2 for the command
		st.Cmd, call.Args = &call, inner.Args[1:]
		return c.stmt(&st)
	}
	inner, simple := cmd.Stmt.Cmd.(*syntax.CallExpr)
	if list, is := cmd.Stmt.Cmd.(*syntax.BinaryCmd); is && cmd.Name != nil { // coproc m a | n: m is no name
		first, all := *cmd, *list
		first.Stmt, all.X = list.X, &syntax.Stmt{Position: list.X.Position, Cmd: &first}
		return c.binary(&all)
	}
	if cmd.Name == nil && !(simple && len(inner.Args) > 0 && len(inner.Assigns) > 0) || !simple && cmd.Stmt.Cmd != nil {
		return c.stmt(cmd.Stmt)
	}
	var words []Word
	if cmd.Name != nil {
		words = c.words([]*syntax.Word{cmd.Name})
	}
	if simple { // the parser takes the A=b of coproc m A=b for an assignment
		rest := inner.Args
		for _, a := range inner.Assigns {
			i := slices.IndexFunc(rest, func(w *syntax.Word) bool { return w.Pos().After(a.Pos()) })
			if i < 0 {
				i = len(rest)
			}
			words = append(words, c.words(rest[:i])...)
			rest = rest[i:]
			w, sign := c.assigned(a.Value), "="
			if a.Append {
				sign = "+="
			}
			if c.inner(a); a.Array != nil {
				w = Word{Text: unknownPart, Kind: Unknown}
			}
			w.Text = a.Name.Value + sign + w.Text
			words = append(words, w)
		}
		words = append(words, c.words(rest)...)
	}
	redirects, _ := c.redirects(cmd.Stmt.Redirs)
	return c.run(words, &finder{text: sh.text(cmd), span: sh.span(cmd), redirects: redirects})
}

// descriptor finds what may stand before a redirection: a number, or the variable for one.
var descriptor = lazyregexp.New(`^(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})$`)

func (sh *shell) define(name string, decl *syntax.FuncDecl) {
	if old := sh.funcs[name]; old != nil && old != decl && sh.lost || name == "command_not_found_handle" {
		sh.r.doubt(DoubtVariable, "what "+name+" runs is only known when it runs", sh.base, -1)
	}
	if sh.lost {
		sh.perhaps = maps.Clone(sh.perhaps)
		if sh.perhaps == nil {
			sh.perhaps = map[string]bool{}
		}
		sh.perhaps[name] = true
	}
	sh.funcs[name], sh.src[name] = decl, sh.source
}

// inner follows the expansions within a node that is no command: $(…), and indexes, which a
// shell evaluates.
func (sh *shell) inner(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sh.substitute(n.Stmts)
			return false
		case *syntax.ProcSubst:
			sh.fork().stmts(n.Stmts)
			return false
		case *syntax.BinaryArithm:
			if strings.HasSuffix(n.Op.String(), "=") {
				sh.counted(n.X)
			}
		case *syntax.UnaryArithm:
			sh.counted(n.X)
		case *syntax.SglQuoted:
			sh.evaluated(n.Value, n)
		case *syntax.Lit:
			sh.evaluated(n.Value, n)
		}
		return true
	})
}

// counted notes that an expression may have set a variable to a number.
func (sh *shell) counted(x syntax.ArithmExpr) {
	name := ""
	if w, is := x.(*syntax.Word); is && len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			name = p.Value
		case *syntax.ParamExp:
			if p.Param != nil {
				name = p.Param.Value
			}
		}
	}
	if name != "" {
		sh.vars[name] = Word{Text: unknownPart, Kind: Unknown, safe: true}
	}
}

// evaluated follows the $(…) in a text that a shell evaluates as an expression, such as
// [[ 'a[$(id)]' -eq 1 ]].
func (sh *shell) evaluated(text string, at syntax.Node) {
	if i := strings.IndexByte(text, '['); i >= 0 && strings.ContainsAny(text[i:], "$`") {
		c := sh.fork()
		c.base, c.exact, c.depth = sh.span(at), false, sh.depth+1
		c.line(": " + text[i+1:])
	}
}

// binary follows a && b, a || b and pipes.
func (sh *shell) binary(cmd *syntax.BinaryCmd) output {
	switch cmd.Op {
	case syntax.Pipe, syntax.PipeAll:
		side := sh.fork()
		side.forked, side.sieve = true, sieveOf(cmd.Y)
		left := side.stmt(cmd.X)
		right := sh.fork()
		right.forked = true
		right.stdin = input{
			has: true, known: left.known, text: left.text, origin: left.origin, words: left.words, used: new(bool),
		}
		if left.words != nil && !left.known {
			right.stdin.origin = cmp.Or(left.origin, "a command")
		}
		return right.stmt(cmd.Y)
	case syntax.AndStmt:
		before, params := maps.Clone(sh.vars), sh.params
		x, y := sh.both(cmd)
		if !sameParams(params, sh.params) && !setsParams(cmd) {
			sh.params = nil
		}
		for name, was := range before { // it may have stopped before a variable was set
			if now := sh.vars[name]; now.Text != was.Text || now.Kind != was.Kind {
				sh.vars[name] = Word{Text: unknownPart, Kind: Unknown, from: cmp.Or(was.from, now.from)}
			}
		}
		return joinOutput(x, y)
	default:
		x := sh.stmt(cmd.X)
		sh.maybe(func() { sh.stmt(cmd.Y) })
		if x.known && x.text != "" {
			return x
		}
		return output{origin: x.origin}
	}
}

// setsParams reports whether the first command of a list sets the parameters: the others may not run.
func setsParams(cmd *syntax.BinaryCmd) bool {
	for {
		switch first := cmd.X.Cmd.(type) {
		case *syntax.BinaryCmd:
			cmd = first
		case *syntax.CallExpr:
			return len(first.Args) > 0 && (first.Args[0].Lit() == "set" || first.Args[0].Lit() == "shift")
		default:
			return false
		}
	}
}

func sameParams(a, b []Word) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) && (a == nil) == (b == nil)
}

// databaseClients take the address of a database, with its password, and do not show it.
var databaseClients = wordLists["databaseClients"]

// sieveOf is the expression of a grep that reads the output before it; "" = it is no grep, or leaves
// more than the expression fits.
func sieveOf(st *syntax.Stmt) string {
	call, is := st.Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) < 2 {
		return ""
	}
	if program := call.Args[0].Lit(); program != "grep" && program != "egrep" && program != "rg" {
		return ""
	}
	for _, a := range call.Args[1:] {
		text := literalText(a)
		if len(a.Parts) == 1 {
			switch p := a.Parts[0].(type) {
			case *syntax.SglQuoted:
				text = p.Value
			case *syntax.DblQuoted:
				text = ""
				if len(p.Parts) == 1 {
					text = literalText(&syntax.Word{Parts: p.Parts})
				}
			}
		}
		switch {
		case !strings.HasPrefix(text, "-"):
			return text
		case text == "-c" || text == "--count": // it prints a number
			return "nothing"
		case strings.Trim(text[1:], "iEFwnxq") != "":
			return ""
		}
	}
	return ""
}

// keepsSecrets reports whether an expression may fit the name or value of a secret variable.
func keepsSecrets(expression string) bool {
	for part := range strings.FieldsFuncSeq(expression, func(r rune) bool { return r == '|' || r == '\\' }) {
		name := strings.TrimSuffix(strings.TrimPrefix(part, "^"), "=")
		if len(name) < 4 || strings.Trim(name, "_-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" ||
			isSecretVariable(strings.ToUpper(name)) || isSecretVariable("MY_"+strings.ToUpper(name)) ||
			isSecretVariable(strings.ToUpper(name)+"_KEY") && cloudNames[strings.ToLower(name)] {
			return true
		}
	}
	return false
}

// cloudNames begin the names of variables that hold logins.
var cloudNames = wordLists["cloudNames"]

// both follows a && b, and a && b && c as one.
func (sh *shell) both(cmd *syntax.BinaryCmd) (x, y output) {
	if inner, is := cmd.X.Cmd.(*syntax.BinaryCmd); is && inner.Op == syntax.AndStmt && len(cmd.X.Redirs) == 0 &&
		!cmd.X.Negated {
		a, b := sh.both(inner)
		x = joinOutput(a, b)
	} else {
		x = sh.stmt(cmd.X)
	}
	return x, sh.stmt(cmd.Y)
}

func joinOutput(x, y output) output {
	if x.known && x.text == "" {
		return y
	}
	return output{known: x.known && y.known, text: x.text + y.text, origin: cmp.Or(x.origin, y.origin)}
}

// maybe follows commands that may run or not: variables that they change are not known after that.
func (sh *shell) maybe(run func()) { sh.either(run, func() {}) }

// either follows branches of which one runs.
func (sh *shell) either(branches ...func()) {
	before, at, lost, params := sh.vars, sh.place, sh.lost, sh.params
	var after []map[string]Word
	var places []place
	sh.lost = true
	for _, b := range branches {
		sh.vars, sh.place = maps.Clone(before), at
		if b(); !sameParams(params, sh.params) {
			params = nil
		}
		after, places = append(after, sh.vars), append(places, sh.place)
	}
	sh.vars, sh.place, sh.lost, sh.params = after[0], places[0], lost, params
	for _, other := range after[1:] {
		for name, w := range other {
			switch have, ok := sh.vars[name]; {
			case !ok:
				sh.vars[name] = w // what it was before the line is mostly nothing
			case have.Text != w.Text || have.Kind != w.Kind:
				sh.vars[name] = Word{Text: unknownPart, Kind: Unknown, from: cmp.Or(have.from, w.from)}
			}
		}
	}
	for _, other := range places[1:] {
		switch {
		case other.cwd == sh.cwd:
		case other.cwd == "" || sh.cwd == "":
			sh.cwd = at.cwd // where it was: a cd that may fail is mostly guarded by &&
		default:
			sh.cwd, at.cwd = "", ""
		}
		if other.old != sh.old || !slices.Equal(other.pushed, sh.pushed) {
			sh.old, sh.pushed = "", nil
		}
	}
}

func (sh *shell) ifs(cmd *syntax.IfClause) output {
	var branches []func()
	for c := cmd; c != nil; c = c.Else {
		if len(c.Cond) > 0 {
			sh.stmts(c.Cond)
		}
		branches = append(branches, func() { sh.stmts(c.Then) })
		if c.Else == nil && len(c.Cond) > 0 {
			branches = append(branches, func() {})
		}
	}
	sh.either(branches...)
	return output{}
}

// mostItems is how many words of a loop are followed one by one.
const mostItems = 24

func (sh *shell) loop(cmd *syntax.ForClause) output {
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		sh.inner(cmd.Loop)
		sh.maybe(func() { sh.stmts(cmd.Do); sh.stmts(cmd.Do) })
		return output{}
	}
	items := sh.words(iter.Items)
	if !iter.InPos.IsValid() {
		items = sh.positional()
	}
	if len(items) > mostItems {
		items = append(items[:mostItems:mostItems], Word{Text: unknownPart, Kind: Unknown})
	}
	var out output
	if cmd.Select {
		sh.takes()
	}
	run := func() {
		for _, item := range items {
			(&finder{sh: sh, index: -1, span: sh.span(cmd), text: sh.text(cmd.Loop)}).set(iter.Name.Value, item)
			out = sh.stmts(cmd.Do)
		}
	}
	if len(items) == 0 {
		return output{known: true}
	}
	run()
	if len(items) == 1 {
		sh.stmts(cmd.Do) // again: what it has assigned may count now
	}
	return output{origin: out.origin}
}

func (sh *shell) positional() []Word {
	if sh.params == nil {
		return []Word{{Text: unknownPart, Kind: Unknown}}
	}
	return sh.params
}

// declare follows export, local and their like.
func (sh *shell) declare(cmd *syntax.DeclClause) output {
	words := []Word{{Text: cmd.Variant.Value, Kind: Literal}}
	variant := cmd.Variant.Value
	odd := false // it makes numbers, or other names of variables
	exports := variant == "export"
	for _, a := range cmd.Args {
		c := &finder{sh: sh, index: -1, span: sh.span(a), text: sh.text(a)}
		if a.Name == nil {
			if a.Value == nil {
				continue
			}
			flags := sh.words([]*syntax.Word{a.Value})
			words = append(words, flags...)
			for _, w := range flags {
				isFlag := strings.HasPrefix(w.Text, "-")
				odd = odd || w.Kind == Unknown || isFlag && strings.ContainsAny(w.Text, "inulc")
				exports = exports || isFlag && strings.Contains(w.Text, "x")
				c.text, c.words = sh.text(cmd), words[:1]
				c.evaluates(variant, []Word{w})
				assigns(c, variant, w, exports)
			}
			continue
		}
		text := a.Name.Value
		declares(sh, variant, text, exports)
		if !a.Naked {
			w := sh.assign(a)
			if variant != "local" {
				c.variable(text, w)
			}
			if odd { // declare -n NAME=OTHER
				c.variable(w.Text, darkValue.word)
			}
			text += "=" + w.Text
		} else if v, is := sh.vars[text]; is && exports {
			c.variable(text, v)
		}
		if odd || variant == "readonly" {
			sh.fix(a.Name.Value)
		}
		if odd {
			sh.vars[a.Name.Value] = Word{Text: unknownPart, Kind: Unknown}
		}
		words = append(words, literal(text))
	}
	isFlag := func(w Word) bool { return strings.HasPrefix(w.Text, "-") }
	prints := func(w Word) bool { return isFlag(w) && strings.Contains(w.Text, "p") }
	if !slices.ContainsFunc(words[1:], func(w Word) bool { return !isFlag(w) }) || slices.ContainsFunc(words, prints) {
		return sh.run(words, &finder{text: sh.text(cmd), span: sh.span(cmd)})
	}
	return output{known: true}
}

// declares notes that a variable is of the function under way, or goes to the programs that follow.
func declares(sh *shell, variant, name string, exports bool) {
	if variant != "export" && variant != "readonly" {
		sh.own(name)
	}
	if exports {
		sh.export(name)
	}
}

// assigns follows an assignment that is a word with quotes: export "NAME=value".
func assigns(c *finder, variant string, w Word, exports bool) {
	sh := c.sh
	name, value, has := strings.Cut(w.Text, "=")
	if has && exports && strings.Contains(name, unknownPart) {
		c.doubt(DoubtVariable, "which variable "+short(c.text)+" sets is only known when it runs")
	}
	if !isAssignment.MatchString(w.Text) {
		return
	}
	if of, adds := strings.CutSuffix(name, "+"); adds {
		name, value = of, sh.vars[of].Text+value
	}
	declares(sh, variant, name, exports)
	c.set(name, w.with(value))
}

// own makes a variable that of the function under way: it is as before when that ends.
func (sh *shell) own(name string) {
	if n := len(sh.locals); n > 0 {
		if _, again := sh.locals[n-1][name]; !again {
			was, known := sh.vars[name]
			if !known {
				was.Kind = ""
			}
			sh.locals[n-1][name] = was
		}
	}
}

// fix notes a variable whose later assignments may do something else.
func (sh *shell) fix(name string) {
	sh.fixed = maps.Clone(sh.fixed)
	if sh.fixed == nil {
		sh.fixed = map[string]bool{}
	}
	sh.fixed[name] = true
}

// assign follows one assignment and returns its value.
func (sh *shell) assign(a *syntax.Assign) Word {
	w := Word{Kind: Literal}
	switch {
	case a.Array != nil:
		w = Word{Text: unknownPart, Kind: Unknown}
		var all strings.Builder
		literal := true
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				sh.inner(e.Index)
			}
			if e.Value != nil {
				for _, v := range sh.words([]*syntax.Word{e.Value}) {
					all.WriteString("\x00" + v.Text)
					literal = literal && v.Kind != Unknown
				}
			}
		}
		if literal {
			sh.vars[a.Name.Value+"[@]"] = Word{Text: all.String(), Kind: Literal}
		}
	case a.Value != nil:
		w = sh.assigned(a.Value)
	}
	if a.Name.Value == "BASH_CMDS" || a.Name.Value == "BASH_ALIASES" || a.Name.Value == "commands" && a.Index != nil {
		sh.r.doubt(DoubtVariable, a.Name.Value+" changes what a name runs", sh.span(a), -1)
	}
	if a.Index != nil {
		sh.inner(a.Index)
		return Word{Text: unknownPart, Kind: Unknown}
	}
	if a.Append {
		before, known := sh.vars[a.Name.Value]
		if !known {
			before = Word{Text: unknownPart, Kind: Unknown}
		}
		w = sh.r.expanded(joinWords(before, w))
	}
	if w.Kind != Unknown && hidesCode.MatchString(w.Text) {
		c := &finder{sh: sh, index: -1, span: sh.span(a), text: sh.text(a)}
		c.hiddenIndex(w.Text)
	}
	if sh.fixed[a.Name.Value] {
		w = Word{Text: unknownPart, Kind: Unknown}
	}
	sh.vars[a.Name.Value] = w
	return w
}

// expanded counts the text of an expansion; once the expansions of a call are too long, it is
// not known: a line may double a variable over and over.
func (r *reading) expanded(w Word) Word {
	if r.expansions += len(w.Text); r.expansions <= maxExpanded {
		return w
	}
	r.doubt(DoubtLimits, "what the variables and commands of the line give is too long", Span{}, -1)
	return Word{Text: unknownPart, Kind: Unknown}
}

func joinWords(a, b Word) Word {
	w := Word{Text: a.Text + b.Text, Kind: Literal, from: cmp.Or(a.from, b.from)}
	if a.Kind == Unknown || b.Kind == Unknown {
		w.Kind = Unknown
	} else if a.Kind == Pattern || b.Kind == Pattern {
		w.Kind = Pattern
	}
	return w
}

// simple follows a simple command.
func (sh *shell) simple(cmd *syntax.CallExpr, redirects []Redirect, st *syntax.Stmt) output {
	if len(cmd.Args) > 1 {
		was, program := sh.client, cmd.Args[0].Lit()
		sh.client = databaseClients[program]
		sh.tests = program == "[" || program == "test"
		defer func() { sh.client, sh.tests = was, false }()
	}
	shown, inner := len(sh.r.out.Effects)+1, len(sh.r.out.Commands)
	words := sh.words(cmd.Args)
	if len(sh.r.out.Commands) > inner { // a command in its words may print
		shown = 0
	}
	for _, rd := range st.Redirs { // ls &>o rm x: dash runs ls, then rm
		behind := slices.IndexFunc(cmd.Args, func(w *syntax.Word) bool { return w.Pos().After(rd.Pos()) })
		if (rd.Op == syntax.RdrAll || rd.Op == syntax.AppAll) && behind > 0 {
			for _, part := range [][]*syntax.Word{cmd.Args[:behind], cmd.Args[behind:]} {
				c := sh.fork()
				c.guess, c.depth = true, sh.depth+1
				c.run(c.words(part), &finder{text: sh.text(cmd), span: sh.span(cmd)})
			}
			break
		}
	}
	for len(words) > 0 && words[0].Kind == Unknown && words[0].Text == unknownPart && len(words) > 1 &&
		words[0].from == "" && words[0].safe {
		words = words[1:]
	}
	if len(words) == 0 {
		for _, a := range cmd.Assigns {
			w := sh.assign(a)
			c := &finder{sh: sh, index: -1, span: sh.span(a), text: sh.text(a)}
			c.variable(a.Name.Value, w)
		}
		sh.applyRedirects(redirects, -1, output{known: true}, true)
		return output{known: true}
	}
	c := &finder{text: sh.text(cmd), span: sh.span(cmd), redirects: redirects, shown: shown}
	if st.Negated {
		c.text = strings.TrimPrefix(c.text, "! ")
	}
	if len(cmd.Assigns) > 0 {
		inner := sh.fork()
		for _, a := range cmd.Assigns {
			w := inner.assign(a)
			c.env = append(c.env, Assign{a.Name.Value, w})
		}
	}
	return sh.run(words, c)
}

// run follows a command whose words are known as far as they can be.
func (sh *shell) run(words []Word, c *finder) output {
	r := sh.r
	if r.steps++; r.steps > maxSteps || len(r.out.Commands) >= maxCommands || sh.depth > maxDepth {
		r.doubt(DoubtLimits, "the line has too many commands", c.span, -1)
		return output{}
	}
	for len(words) > 1 && (words[0].Text == "--" || words[0].Text == "!" || words[0].Text == "coproc" ||
		oddAssignment.MatchString(words[0].Text) || isAssignment.MatchString(words[0].Text)) {
		// time -- ls, time ! ls, A[1]=2 ls, time -- A=b ls, time -- coproc ls
		if name, value, is := strings.Cut(words[0].Text, "="); is {
			c.env = append(c.env, Assign{strings.TrimSuffix(name, "+"), words[0].with(value)})
		}
		words = words[1:]
	}
	c.sh, c.words = sh, words
	c.index = len(r.out.Commands)
	r.out.Commands = append(r.out.Commands, Command{
		Words: words, Text: c.text[:min(len(c.text), mostRepeated)], Env: c.env,
		Redirects: c.redirects, Via: slices.Clip(sh.via),
		Guess: sh.guess, Span: c.span, Dir: c.dir(), Async: sh.async,
	})
	for _, a := range c.env {
		c.variable(a.Name, a.Value)
	}
	if sh.stdin.used != nil && *sh.stdin.used {
		sh.stdin.known = false
	}
	name := words[0]
	if name.Kind == Unknown {
		return c.computed()
	}
	if name.Kind == Pattern && name.Text != "[" && name.Text != "[[" && name.Text != "?" {
		r.doubt(DoubtWord, "the name of a program is a pattern: "+name.Text, c.span, c.index)
		sh.applyRedirects(c.redirects, c.index, output{}, false)
		return c.guesses(words)
	}
	if f := sh.funcs[name.Text]; f != nil {
		sh.applyRedirects(c.redirects, c.index, output{}, false)
		out := sh.callFunction(name.Text, f, words[1:], c)
		if sh.perhaps[name.Text] {
			c.program(name.Text, words[1:])
		}
		return out
	}
	out := c.program(name.Text, words[1:])
	if r.raw && out.known && len(c.redirects) == 0 { // echo FLUSHALL >&3
		(&guesser{c}).types(out.text)
	}
	c.restores()
	sh.applyRedirects(c.redirects, c.index, out, isBlank(out) && printsNothing[programName(name.Text)])
	return out
}

var oddAssignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\[[^]]*\]\+?=`)

// mostCalls is how often a function is followed that calls itself.
const mostCalls = 3

const mostRepeated = 4096 // bytes of a command's text that facts repeat

// printsNothing are commands with which `> FILE` may empty a file.
var printsNothing = names(`
	: true false echo printf cat exec head tail jq sed awk grep env command nice timeout nohup sudo doas builtin stdbuf
	ionice setsid chronic unbuffer`)

// isBlank reports whether an output is known, and has nothing but blanks.
func isBlank(out output) bool { return out.known && strings.TrimSpace(out.text) == "" }

// callFunction follows the body of a function.
func (sh *shell) callFunction(name string, f *syntax.FuncDecl, params []Word, c *finder) output {
	again := 0
	for _, under := range sh.calls {
		if under == f {
			again++
		}
	}
	switch {
	case again > 0 && (sh.forked || strings.Contains(c.text, "&")):
		c.effectWhy(KindKill, "process:*", true, name+" calls itself without end")
		return output{}
	case again >= mostCalls:
		c.doubt(DoubtLimits, name+" calls itself")
		return output{}
	}
	sh.locals = append(slices.Clip(sh.locals), map[string]Word{})
	defer func() {
		last := len(sh.locals) - 1
		for name, was := range sh.locals[last] {
			if was.Kind == "" {
				delete(sh.vars, name)
			} else {
				sh.vars[name] = was
			}
		}
		sh.locals = sh.locals[:last]
	}()
	calls, before, source, exact, depth := sh.calls, sh.params, sh.source, sh.exact, sh.depth
	sh.calls, sh.params, sh.source, sh.depth = append(slices.Clip(calls), f), params, sh.src[name], depth+1
	if params == nil {
		sh.params = []Word{}
	}
	base := sh.base
	if sh.source != source {
		sh.exact, sh.base = false, c.span
	}
	out := sh.stmt(f.Body)
	sh.calls, sh.params, sh.source, sh.exact, sh.depth, sh.base = calls, before, source, exact, depth, base
	return out
}

// substitute follows $(…).
func (sh *shell) substitute(stmts []*syntax.Stmt) output {
	c := sh.fork()
	if c.depth++; c.depth > maxDepth {
		sh.r.doubt(DoubtLimits, "the line has too many lines within lines", sh.base, -1)
		return output{}
	}
	if len(stmts) == 1 && stmts[0].Cmd == nil && len(stmts[0].Redirs) == 1 && stmts[0].Redirs[0].Op == syntax.RdrIn {
		w := sh.word(stmts[0].Redirs[0].Word) // $(< file)
		k := &finder{sh: sh, index: -1, span: sh.span(stmts[0]), text: sh.text(stmts[0])}
		k.path(KindRead, w)
		return output{origin: "file " + w.Text}
	}
	return c.stmts(stmts)
}

// nested is a shell for a text within the command c.
func (c *finder) nested(via string) *shell {
	sh := c.sh.fork()
	sh.depth++
	sh.exact, sh.base, sh.params = false, c.span, nil
	sh.via = append(slices.Clip(c.sh.via), via)
	if !inShell[via] && !strings.HasPrefix(via, "alias ") {
		sh.leave()
	}
	for _, a := range c.env {
		sh.vars[a.Name] = a.Value
		sh.export(a.Name)
	}
	return sh
}

// inShell are the commands that run a text in the shell itself.
var inShell = names("eval trap index [ test mapfile readarray source . alias compgen complete ?")

// ofEnvironment are variables that programs have from the environment, also once the line has set
// them.
var ofEnvironment = names("HOME PATH PWD OLDPWD TMPDIR USER LOGNAME SHELL LANG IFS")

// leave makes of a shell the process of another program: it has only the variables that are
// exported, and perhaps the functions.
func (sh *shell) leave() {
	for name := range sh.vars {
		if !sh.exports[name] && !sh.exports["*"] && !ofEnvironment[name] {
			sh.vars[name] = Word{Text: unknownPart, Kind: Unknown}
		}
	}
	if len(sh.funcs) == 0 {
		return
	}
	sh.perhaps = map[string]bool{}
	for name := range sh.funcs {
		sh.perhaps[name] = true
	}
}

// export notes a variable that programs are given.
func (sh *shell) export(name string) {
	sh.exports = maps.Clone(sh.exports)
	if sh.exports == nil {
		sh.exports = map[string]bool{}
	}
	sh.exports[name] = true
}

// absolute makes a path absolute and clean. ok is false where the path depends on unknown values.
func (sh *shell) absolute(text string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, "~"); ok && sh.r.env.Home != "" && (rest == "" || rest[0] == '/') {
		text = sh.r.env.Home + rest
	}
	if !strings.HasPrefix(text, "/") {
		if sh.cwd == "" {
			return path.Clean(text), false
		}
		text = sh.cwd + "/" + text
	}
	return path.Clean(text), true
}
