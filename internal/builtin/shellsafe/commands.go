package shellsafe

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command, without quotes and backslashes.
type Word struct {
	Text string
	Open bool // a part of it is only known when the line runs; Text is what stands before that
	Glob bool // Text is a pattern, in whose place names of files may stand
}

// Command is one command of a line, with all of its words.
type Command struct {
	Words []Word
	// Plain: only the first word names a program. Else any of the words may, as behind
	// sudo or xargs, or behind a program that is not known.
	Plain bool
}

// Commands are the commands that stand anywhere in a line: also in $(…), in text that
// is given to a shell, and behind programs that run others.
type Commands struct {
	List []Command
	// Doubt is why there may be others; "" = these are all that the line itself runs.
	Doubt string
}

// Limits of ReadCommands; beyond them a line is in doubt.
const (
	maxCommandLine = 16 << 10
	maxCommands    = 1000
	maxRead        = 128 << 10 // bytes, of the line and of all texts in it that may be lines
)

// ReadCommands finds the commands of a line. It finds one too many rather than one too
// few: a word that may be a line of its own is read as one. What the line does not
// say, such as what a script or a makefile runs, it does not find.
func ReadCommands(line string) (found *Commands) {
	r := &commandReader{scan: newScan(), out: &Commands{}, seen: map[string]bool{}}
	defer func() {
		if recover() != nil { // the parser fails on the line: then nothing is sure
			found = &Commands{Doubt: "it cannot be read"}
		}
	}()
	r.line(line, 0)
	if r.writes && r.scripts {
		r.doubt("it may run a file that it has written")
	}
	return r.out
}

// commandReader goes through a line and all those within it.
type commandReader struct {
	scan    *scan
	out     *Commands
	seen    map[string]bool // texts that were read
	read    int             // bytes
	renamed bool            // the line declares functions: a name may stand for anything
	writes  bool            // the line writes a file
	scripts bool            // and it runs one
}

func (r *commandReader) doubt(why string) {
	if r.out.Doubt == "" {
		r.out.Doubt = why
	}
}

// line reads a text as each shell would that may get it.
func (r *commandReader) line(text string, depth int) {
	if r.seen[text] || r.out.Doubt != "" {
		return
	}
	r.seen[text] = true
	r.read += len(text)
	isControl := func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == utf8.RuneError }
	switch {
	case len(text) > maxCommandLine || r.read > maxRead || depth > maxDepth:
		r.doubt("it is too long, or has too many lines within lines")
		return
	case strings.ContainsFunc(text, isControl):
		r.doubt("it has control characters")
		return
	}
	for i, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangZsh} {
		file, err := parse(text, lang)
		switch {
		case err == nil:
			r.file(file, text, lang != syntax.LangPOSIX, depth)
		case i == 0:
			r.doubt("it does not parse")
		}
		if plain(text) {
			return // all shells agree
		}
	}
}

// file reads a parsed text.
func (r *commandReader) file(file *syntax.File, text string, braces bool, depth int) {
	s := newScan()
	s.source, s.braces, s.declared = text, braces, map[string]span{}
	s.declare(file)
	s.values = s.collect(file)
	s.reopened = reopens(file)
	outer := r.scan
	r.scan = s
	defer func() { r.scan = outer }()
	if len(s.functions) > 0 {
		r.renamed = true
	}
	fed := r.fed(file, depth)
	syntax.Walk(file, func(node syntax.Node) bool {
		s.construct(node)
		switch node := node.(type) {
		case *syntax.CallExpr:
			r.call(node, fed[node], depth)
		case *syntax.DeclClause:
			for _, a := range node.Args {
				r.assign(a, true, depth)
			}
		case *syntax.ExtGlob:
			r.doubt("it has a pattern that a shell may run")
		}
		return r.out.Doubt == ""
	})
	if len(s.found) > 0 {
		r.doubt(s.found[0].String())
	}
}

// fed finds the commands that get text which another command of the line makes, or
// which stands in the line: a program may run it. Text that stands in the line is read.
func (r *commandReader) fed(file *syntax.File, depth int) map[*syntax.CallExpr]bool {
	fed := map[*syntax.CallExpr]bool{}
	all := func(stmt *syntax.Stmt) {
		syntax.Walk(stmt, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok {
				fed[call] = true
			}
			return true
		})
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.BinaryCmd:
			if node.Op == syntax.Pipe || node.Op == syntax.PipeAll {
				all(node.Y)
			}
		case *syntax.Stmt:
			for _, redirect := range node.Redirs {
				r.writes = r.writes || r.isFile(redirect)
				switch redirect.Op {
				case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
					all(node)
				case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
					if intoProcess(redirect.Word) {
						all(node)
					}
					r.scripts = true // a shell may read its commands from there
				}
			}
		}
		return true
	})
	return fed
}

// isFile reports whether a redirection writes a file.
func (r *commandReader) isFile(redirect *syntax.Redirect) bool {
	switch redirect.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return false
	case syntax.DplOut:
		return !descriptor.MatchString(redirect.Word.Lit())
	}
	a := r.scan.word(redirect.Word)
	return a.dynamic || !harmlessTarget.MatchString(a.text) && !ownTarget.MatchString(a.text)
}

// makers write files that they are told of.
var makers = set("tee cp mv ln install dd truncate mktemp sed gsed")

// call reads one simple command.
func (r *commandReader) call(call *syntax.CallExpr, fed bool, depth int) {
	args := r.scan.args(call.Args)
	if len(args) == 0 {
		for _, a := range call.Assigns {
			r.assign(a, false, depth)
		}
		return
	}
	fed = fed || slices.ContainsFunc(call.Args, hasProcess)
	isPlain := r.command(args, fed, depth)
	for _, a := range call.Assigns {
		r.assign(a, !isPlain, depth)
	}
}

// hasProcess reports whether a word stands for what a command writes.
func hasProcess(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		_, ok := part.(*syntax.ProcSubst)
		return ok
	})
}

// assign reads what a variable gets: some variables are run, and so is what a program
// finds in its environment.
func (r *commandReader) assign(a *syntax.Assign, exported bool, depth int) {
	if a.Name == nil || a.Naked {
		return
	}
	value := r.scan.word(a.Value)
	pager := !value.dynamic && r.scan.known.pagers.MatchString(a.Name.Value+"="+value.text)
	switch {
	case pager:
	case r.scan.known.isDangerous(a.Name.Value), a.Name.Value == "IFS":
		r.doubt("it sets " + a.Name.Value)
	case exported && !value.dynamic && mayBeLine(value.text):
		r.line(value.text, depth+1)
	}
}

// command reads the words of a command, and reports whether only the first of them
// names a program.
func (r *commandReader) command(args []arg, fed bool, depth int) (isPlain bool) {
	name := args[0]
	if name.dynamic || name.number || name.pattern && name.text != "[" {
		r.doubt("the name of a command is computed")
		return false
	}
	if len(r.out.List) >= maxCommands {
		r.doubt("it has too many commands")
		return false
	}
	program := Program(name.text)
	isPlain = !r.renamed && runsNoWords(program, args[1:])
	c := Command{Plain: isPlain, Words: make([]Word, len(args))}
	for i, a := range args {
		c.Words[i] = Word{Text: a.text, Open: a.dynamic || a.number, Glob: a.pattern && !a.dynamic}
	}
	r.out.List = append(r.out.List, c)
	r.writes = r.writes || makers[program]
	r.scripts = r.scripts || runsFile(r.scan.known, name.text, program, args[1:])
	if !isPlain {
		r.runs(program, args[1:], fed, depth)
	}
	return isPlain
}

// runs reads the words of a command that may run them.
func (r *commandReader) runs(program string, args []arg, fed bool, depth int) {
	isShell := slices.Contains(r.scan.known.Shells, program) || program == "eval"
	wrapper, wraps := r.scan.known.Wrappers[program]
	switch {
	case fed || wrapper.Feeds:
		r.doubt(program + " may run what it reads")
	case program == "source" || program == "." || program == "alias":
		r.doubt(program + " changes what a name runs")
	case slices.ContainsFunc(args, func(a arg) bool { return a.dynamic || a.number }):
		r.doubt(program + " may run what is computed")
	case program == "sed", program == "gsed",
		interpreters[program] && slices.ContainsFunc(args, func(a arg) bool { return mayBeLine(a.text) }):
		r.doubt(program + " runs text of its own language")
	}
	for _, a := range args {
		for _, text := range linesIn(a.text) {
			if isShell || mayBeLine(text) || wraps && a.pattern {
				r.line(text, depth+1)
			}
		}
	}
	if isShell || wraps {
		r.line(strings.Join(texts(args), " "), depth+1)
	}
	if program == "git" {
		for _, line := range gitAliasLines(args) {
			r.line("git "+line, depth+1)
		}
	}
}

// gitAliasLines returns what aliases of git stand for that a line gives it and that are
// subcommands of its own: alias.NAME=LINE, or alias.NAME and LINE as the next word.
func gitAliasLines(args []arg) (lines []string) {
	for i, a := range args {
		if !strings.HasPrefix(strings.ToLower(a.text), "alias.") {
			continue
		}
		if _, line, ok := strings.Cut(a.text, "="); ok {
			lines = append(lines, line)
		} else if i+1 < len(args) {
			lines = append(lines, args[i+1].text)
		}
	}
	return lines
}

// runsFile reports whether a command runs a file: one that it is by its path, or that a
// shell or an interpreter is given.
func runsFile(known *taxonomy, name, program string, args []arg) bool {
	if strings.Contains(name, "/") && !slices.Contains(systemDirs, path.Dir(name)) {
		return true
	}
	if !slices.Contains(known.Shells, program) && !interpreters[program] {
		return false
	}
	return slices.ContainsFunc(args, func(a arg) bool { return a.dynamic || !strings.HasPrefix(a.text, "-") })
}

// marks begin a command in languages that call a shell by them.
const marks = ":!|@+-"

// linesIn returns what of a word may be a command line: all of it, what follows an =,
// and what follows a short option or a mark such as ! or |.
func linesIn(word string) (lines []string) {
	add := func(text string) {
		for _, text := range []string{text, strings.TrimLeft(text, marks)} {
			if text != "" && !slices.Contains(lines, text) {
				lines = append(lines, text)
			}
		}
	}
	add(word)
	rest, more := word, true
	for range 4 {
		if _, rest, more = strings.Cut(rest, "="); !more {
			break
		}
		add(rest)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		add(word[2:])
	}
	return lines
}

// mayBeLine reports whether a text is more than one plain word to a shell.
func mayBeLine(text string) bool { return strings.ContainsAny(text, " \t\n;&|<>()$`'\"\\{}") }

// Program is the name of the program that a word calls: without its folder, in lower
// case, as some file systems find it.
func Program(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
}

// Names are what of a word of a command may name a program: all of it, what follows an
// =, and what follows a short option or a mark.
func (w Word) Names() []string { return linesIn(w.Text) }
