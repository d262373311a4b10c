package shellsafe

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// values is what a line's own assignments say about its variables.
type values struct {
	of      map[string]*value
	ifs     bool // the line changes how words are split
	unknown bool // some variable is assigned that cannot be told
}

// value is what every assignment of one variable in the line has in common.
// It only counts where the variable is sure to have been assigned: what it was
// before the line is not known.
type value struct {
	number bool   // a decimal number
	plain  bool   // without a dash in front
	filled bool   // not empty
	whole  bool   // without what would make it several words
	sure   []span // where it has been assigned
}

// span is a part of the line's text.
type span struct{ from, to uint }

func (s span) has(at uint) bool { return s.from <= at && at < s.to }

// collect finds the assignments of a line, wherever they stand, and where
// their variables are sure to be set.
func (s *scan) collect(file *syntax.File) values {
	v := values{of: map[string]*value{}}
	s.values = v
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CallExpr:
			s.collectCall(&v, node)
		case *syntax.DeclClause:
			for _, a := range node.Args {
				if a.Name == nil && a.Value != nil && strings.ContainsAny(s.word(a.Value).text, "in") {
					v.unknown = true // -i and -n give variables another meaning
				}
			}
		case *syntax.Assign:
			if node.Name != nil {
				v.assigned(node.Name.Value, s.valueOf(node))
			}
		case *syntax.ParamExp:
			if node.Param != nil && assigns(node) {
				v.assigned(node.Param.Value, value{})
			}
		case *syntax.ForClause:
			s.collectLoop(&v, node)
		case *syntax.BinaryArithm:
			if name := assignedName(node); name != "" {
				v.assigned(name, value{number: true, plain: false})
			}
		case *syntax.UnaryArithm:
			if w, ok := node.X.(*syntax.Word); ok && (node.Op == syntax.Inc || node.Op == syntax.Dec) {
				v.assigned(w.Lit(), value{number: true})
			}
		}
		return true
	})
	v.sequence(file.Stmts, file.End().Offset()+1)
	syntax.Walk(file, func(node syntax.Node) bool {
		v.scopes(node)
		return true
	})
	return v
}

// assigned notes one more assignment.
func (v *values) assigned(name string, given value) {
	if name == "IFS" {
		v.ifs = true
	}
	known, ok := v.of[name]
	if !ok {
		v.of[name] = &given
		return
	}
	known.number = known.number && given.number
	known.plain = known.plain && given.plain
	known.filled = known.filled && given.filled
	known.whole = known.whole && given.whole
}

// collectCall notes the variables that a command assigns by name.
func (s *scan) collectCall(v *values, call *syntax.CallExpr) {
	if len(call.Args) == 0 {
		return
	}
	name := s.word(call.Args[0])
	switch name.text {
	case "eval", "source", ".", "unset", "trap":
		v.unknown = true
	case "read", "mapfile", "readarray", "printf", "getopts", "wait", "declare", "typeset", "local", "export", "readonly",
		"let", "set", "command", "builtin":
		v.assigned("REPLY", value{})
		for _, w := range call.Args[1:] {
			text, _, _ := strings.Cut(s.word(w).text, "=")
			v.assigned(strings.TrimLeft(text, "-+"), value{})
		}
	}
	v.unknown = v.unknown || name.dynamic
}

// collectLoop notes the variable of a for loop.
func (s *scan) collectLoop(v *values, loop *syntax.ForClause) {
	iter, ok := loop.Loop.(*syntax.WordIter)
	if !ok || iter.Name == nil {
		return
	}
	all := value{number: true, plain: true, filled: true, whole: true}
	if !iter.InPos.IsValid() {
		all = value{} // the line's arguments
	}
	for _, w := range iter.Items {
		number := s.isNumber(w)
		for _, a := range s.args([]*syntax.Word{w}) {
			one := valueOfWord(a)
			all.number = all.number && (number || one.number)
			all.plain = all.plain && (number || one.plain)
			all.filled = all.filled && (number || one.filled)
			all.whole = all.whole && (number || one.whole || a.pattern)
		}
	}
	v.assigned(iter.Name.Value, all)
	if known := v.of[iter.Name.Value]; loop.DoPos.IsValid() {
		known.sure = append(known.sure, span{loop.DoPos.Offset(), loop.DonePos.Offset()})
	}
}

// valueOf is what one assignment gives.
func (s *scan) valueOf(a *syntax.Assign) value {
	switch {
	case a.Naked || a.Append || a.Index != nil || a.Array != nil || a.Value == nil:
		return value{}
	case s.isNumber(a.Value):
		return value{number: true, plain: true, filled: true, whole: true}
	}
	one := s.word(a.Value)
	whole := one.dynamic && !one.split // an assignment is not split
	one.split = false
	given := valueOfWord(one)
	given.whole = given.whole || given.plain && whole && len(a.Value.Parts) == 1
	return given
}

var decimal = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})$`)

func valueOfWord(a arg) value {
	plain := !a.mayBeFlag() && !strings.HasPrefix(a.text, "-")
	return value{
		filled: a.text != "",
		number: !a.dynamic && decimal.MatchString(a.text),
		plain:  plain,
		whole:  plain && !a.dynamic && !a.pattern && !strings.ContainsAny(a.text, " \t\n*?["),
	}
}

// sequence goes through statements that run one after the other: what is
// assigned in one is assigned to the end of them.
func (v *values) sequence(stmts []*syntax.Stmt, end uint) {
	for _, stmt := range stmts {
		v.after(stmt, end, 0)
	}
}

// after notes what a statement assigns. It is sure up to end, and if
// the statement succeeds up to success.
func (v *values) after(stmt *syntax.Stmt, end, success uint) {
	if stmt.Background || stmt.Disown || stmt.Coprocess {
		return
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			v.set(cmd.Assigns, stmt.End().Offset(), end, success)
		}
	case *syntax.DeclClause:
		v.set(cmd.Args, stmt.End().Offset(), end, success)
	case *syntax.Block:
		v.sequence(cmd.Stmts, end)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			success = max(success, cmd.End().Offset())
			v.after(cmd.X, end, success)
			v.after(cmd.Y, success, success)
		case syntax.OrStmt:
			v.after(cmd.X, end, 0)
		}
	case *syntax.ForClause:
		if loop, ok := cmd.Loop.(*syntax.CStyleLoop); ok {
			if init, ok := loop.Init.(*syntax.BinaryArithm); ok {
				v.mark(assignedName(init), init.End().Offset(), end)
			}
		}
	case *syntax.ArithmCmd:
		if x, ok := cmd.X.(*syntax.BinaryArithm); ok {
			v.mark(assignedName(x), cmd.End().Offset(), end)
		}
	}
}

func (v *values) set(list []*syntax.Assign, from, end, success uint) {
	for _, a := range list {
		if a.Name != nil {
			v.mark(a.Name.Value, from, max(end, success))
		}
	}
}

func (v *values) mark(name string, from, to uint) {
	if known := v.of[name]; known != nil && from < to {
		known.sure = append(known.sure, span{from, to})
	}
}

// scopes goes through the statements within one node: what they assign is sure
// to the node's end.
func (v *values) scopes(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.Subshell:
		v.sequence(node.Stmts, node.End().Offset())
	case *syntax.CmdSubst:
		v.sequence(node.Stmts, node.End().Offset())
	case *syntax.ProcSubst:
		v.sequence(node.Stmts, node.End().Offset())
	case *syntax.IfClause:
		if len(node.Then) > 0 {
			v.sequence(node.Then, node.Then[len(node.Then)-1].End().Offset())
		}
	case *syntax.WhileClause:
		v.sequence(node.Do, node.DonePos.Offset())
	case *syntax.ForClause:
		v.sequence(node.Do, node.DonePos.Offset())
	case *syntax.CaseItem:
		v.sequence(node.Stmts, node.End().Offset())
	case *syntax.FuncDecl:
		v.sequence([]*syntax.Stmt{node.Body}, node.End().Offset())
	case *syntax.BinaryCmd:
		if node.Op == syntax.Pipe || node.Op == syntax.PipeAll {
			v.after(node.X, node.X.End().Offset(), 0)
			v.after(node.Y, node.Y.End().Offset(), 0)
		}
	}
}

// assignedName is the variable that an arithmetic assignment sets.
func assignedName(x *syntax.BinaryArithm) string {
	switch x.Op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn,
		syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		if w, ok := x.X.(*syntax.Word); ok {
			return w.Lit()
		}
	}
	return ""
}

// at returns what is known of a variable at one place of the line.
func (v *values) at(name string, pos uint) value {
	known := v.of[name]
	if known == nil || v.unknown {
		return value{}
	}
	for _, s := range known.sure {
		if s.has(pos) {
			return value{known.number, known.plain, known.filled, known.whole && !v.ifs, nil}
		}
	}
	return value{}
}

// numbersOfShell are the shell's own variables that hold numbers.
var numbersOfShell = regexp.MustCompile(`^(?:[#?$]|RANDOM|SECONDS|LINENO|UID|EUID|PPID|BASHPID|EPOCHSECONDS|SHLVL)$`)

// pathsOfShell are variables that hold an absolute path.
var pathsOfShell = regexp.MustCompile(`^(?:HOME|PWD|OLDPWD)$`)

// isNumber reports whether a word is a number whenever it is evaluated.
func (s *scan) isNumber(w *syntax.Word) bool {
	if lit := w.Lit(); lit != "" {
		return decimal.MatchString(lit)
	}
	if len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.DblQuoted:
		return len(p.Parts) > 0 && s.isNumber(&syntax.Word{Parts: p.Parts})
	case *syntax.SglQuoted:
		return decimal.MatchString(p.Value)
	case *syntax.ParamExp:
		return s.isNumberParam(p)
	case *syntax.ArithmExp:
		return true // what stands in it is looked at by itself
	case *syntax.CmdSubst:
		return s.printsNumber(p.Stmts)
	}
	return false
}

func (s *scan) isNumberParam(p *syntax.ParamExp) bool {
	switch {
	case p.Param == nil || p.Excl || p.Flags != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil ||
		p.Modifiers != nil:
		return false
	case p.Length:
		return true
	case p.Index != nil:
		return false
	case numbersOfShell.MatchString(p.Param.Value):
		return s.values.of[p.Param.Value] == nil
	}
	return s.values.at(p.Param.Value, p.Pos().Offset()).number
}

// numberPrinters are commands that print one number, or numbers one a line.
var numberPrinters = regexp.MustCompile(`^(?:wc -[lcmw]|date \+%[sYmdHMSjuw]|nproc|seq( [0-9]+){1,3}|id -[ug])$`)

// printsNumber reports whether the statements print a number: the last command
// of a pipe does.
func (s *scan) printsNumber(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	stmt := stmts[0]
	for {
		bin, ok := stmt.Cmd.(*syntax.BinaryCmd)
		if !ok || bin.Op != syntax.Pipe {
			break
		}
		stmt = bin.Y
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || s.functions[call.Args[0].Lit()] {
		return false
	}
	for _, r := range stmt.Redirs {
		if r.Op != syntax.RdrIn && source(r.Word) != "/dev/null" {
			return false
		}
	}
	return numberPrinters.MatchString(literalText(call.Args))
}

// literalText is words in a row, "" if one of them is more than plain text.
func literalText(words []*syntax.Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		if texts[i] = plainText(w.Parts); texts[i] == "" {
			return ""
		}
	}
	return strings.Join(texts, " ")
}

func plainText(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		text := ""
		switch p := p.(type) {
		case *syntax.Lit:
			text = p.Value
		case *syntax.SglQuoted:
			text = p.Value
		case *syntax.DblQuoted:
			text = plainText(p.Parts)
		}
		if text == "" || strings.ContainsAny(text, "\\*?[{$ \n") {
			return ""
		}
		b.WriteString(text)
	}
	return b.String()
}

// These print one line that does not begin with a dash, or nothing if they
// fail: a path, which may have spaces, or a word.
var (
	pathPrinters = regexp.MustCompile(`^(?:pwd(?: -[PL])?|git rev-parse(?: --show-toplevel| --git-dir| --show-prefix)|go env [A-Z0-9]+)$`)
	wordPrinters = regexp.MustCompile(`^(?:git rev-parse(?: --short(?:=[0-9]+)?| --abbrev-ref| --verify)* HEAD[~^0-9]*|` +
		`git merge-base [A-Za-z0-9][^ ]* [A-Za-z0-9][^ ]*|git branch --show-current|` +
		`which [A-Za-z0-9_.+]+|command -v [A-Za-z0-9_.+]+|git describe --tags --abbrev=0)$`)
)

// printsPath reports whether the statements print such a path, or such a word.
func (s *scan) printsPath(stmts []*syntax.Stmt) (path, word bool) {
	if len(stmts) != 1 {
		return false, false
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || s.functions[call.Args[0].Lit()] {
		return false, false
	}
	for _, r := range stmts[0].Redirs {
		if source(r.Word) != "/dev/null" {
			return false, false
		}
	}
	text := literalText(call.Args)
	return pathPrinters.MatchString(text), wordPrinters.MatchString(text)
}
