package facts

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// passing are the programs that end as the command behind them did.
var passing = []string{"sudo", "doas", "env", "timeout", "nice", "ionice", "time", "nohup", "command", "exec", "stdbuf", "setsid"}

// Proves reports whether the command at index i has succeeded if the line has: nothing behind
// it in a pipe, a list or a condition hides its exit code. In doubt it does not.
func (f *Facts) Proves(i int) bool {
	file, span := f.placed(i)
	return file != nil && len(file.Stmts) > 0 && proves(file.Stmts[len(file.Stmts)-1], span)
}

// Guards reports whether the command at index j only runs once the one at index i has
// succeeded, as `a && b` says. In doubt it does not.
func (f *Facts) Guards(i, j int) (guards bool) {
	file, first := f.placed(i)
	if _, then := f.placed(j); file != nil && then != (Span{}) {
		syntax.Walk(file, func(n syntax.Node) bool {
			list, is := n.(*syntax.BinaryCmd)
			if is && list.Op == syntax.AndStmt && proves(list.X, first) && spans(list.Y, then) {
				guards = true
			}
			return !guards
		})
	}
	return guards
}

// placed returns the parsed line and the place of a command in it; nil where the place is
// not exactly known, or a program before the command may hide how it ended.
func (f *Facts) placed(i int) (*syntax.File, Span) {
	if i < 0 || i >= len(f.Commands) {
		return nil, Span{}
	}
	c := &f.Commands[i]
	s := c.Span
	if c.Guess || s.To <= s.From || s.To > len(f.Text) || !strings.Contains(f.Text[s.From:s.To], c.Text) ||
		slices.ContainsFunc(c.Via, func(via string) bool { return !slices.Contains(passing, via) }) {
		return nil, Span{}
	}
	file, err := parse(f.Text, syntax.LangBash)
	if err != nil {
		return nil, Span{}
	}
	return file, s
}

// spans reports whether a node has a place in it.
func spans(n syntax.Node, s Span) bool {
	return int(n.Pos().Offset()) <= s.From && s.To <= int(n.End().Offset())
}

// proves reports whether the success of a statement is that of the command at a place.
func proves(stmt *syntax.Stmt, at Span) bool {
	if stmt.Negated || stmt.Background || stmt.Coprocess || !spans(stmt, at) {
		return false
	}
	last := func(stmts []*syntax.Stmt) bool { return len(stmts) > 0 && proves(stmts[len(stmts)-1], at) }
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return !slices.ContainsFunc(cmd.Args, func(w *syntax.Word) bool { return computes(w) && spans(w, at) })
	case *syntax.TimeClause:
		return cmd.Stmt != nil && proves(cmd.Stmt, at)
	case *syntax.Block:
		return last(cmd.Stmts)
	case *syntax.Subshell:
		return last(cmd.Stmts)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			return proves(cmd.X, at) || proves(cmd.Y, at)
		case syntax.Pipe, syntax.PipeAll:
			return proves(cmd.Y, at)
		}
	}
	return false
}

// computes reports whether a word runs commands.
func computes(w *syntax.Word) (found bool) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
