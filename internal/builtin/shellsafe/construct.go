package shellsafe

import (
	"regexp"

	"mvdan.cc/sh/v3/syntax"
)

// construct looks at one node of a line for what it runs or changes by itself,
// without a command. A kind of node that is not known here asks.
func (s *scan) construct(node syntax.Node) {
	switch node := node.(type) {
	case nil, *syntax.File, *syntax.Comment, *syntax.CallExpr, *syntax.Subshell, *syntax.Block,
		*syntax.IfClause, *syntax.WhileClause, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted,
		*syntax.DblQuoted, *syntax.ProcSubst, *syntax.TestClause, *syntax.ParenTest, *syntax.CaseClause,
		*syntax.CaseItem, *syntax.ArrayExpr, *syntax.ExtGlob, *syntax.TimeClause, *syntax.ParenArithm,
		*syntax.WordIter, *syntax.Redirect, *syntax.BraceExp, *syntax.FuncDecl:
	case *syntax.Stmt:
		if node.Coprocess || node.Disown {
			s.unknown(s.text(node), "runs beside the line")
		}
	case *syntax.ForClause:
		if node.Select {
			s.unknown("select", "waits for an answer")
		}
		if iter, ok := node.Loop.(*syntax.WordIter); ok && iter.Name != nil && s.known.isDangerous(iter.Name.Value) {
			s.unknown("for "+iter.Name.Value, "is a variable that changes what programs do")
		}
	case *syntax.CmdSubst:
		if node.TempFile || node.ReplyVar {
			s.unknown(s.text(node), "is a substitution of one shell")
		}
	case *syntax.DeclClause:
		s.declares(node)
	case *syntax.Assign:
		if node.Index != nil {
			s.arithmetic(node.Index, node)
		}
	case *syntax.ArrayElem:
		if node.Index != nil {
			s.arithmetic(node.Index, node)
		}
	case *syntax.ParamExp:
		s.expansion(node)
	case *syntax.ArithmExp:
		s.arithmetic(node.X, node)
	case *syntax.ArithmCmd:
		s.arithmetic(node.X, node)
	case *syntax.LetClause:
		for _, x := range node.Exprs {
			s.arithmetic(x, node)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{node.Init, node.Cond, node.Post} {
			if x != nil {
				s.arithmetic(x, node)
			}
		}
	case *syntax.BinaryTest:
		s.comparison(node)
	case *syntax.UnaryTest:
		w, ok := node.X.(*syntax.Word)
		if ok && (node.Op == syntax.TsVarSet || node.Op == syntax.TsRefVar) && !variableName.MatchString(w.Lit()) {
			s.unknown(s.text(node), "evaluates a name that may run commands")
		}
	case *syntax.BinaryArithm, *syntax.UnaryArithm: // part of what is looked at as a whole
	case *syntax.CoprocClause:
		s.unknown(s.text(node), "runs in the background")
	default:
		s.unknown(s.text(node), "is something that is not known")
	}
}

var numeral = regexp.MustCompile(`^(?:[0-9]+|0[xX][0-9a-fA-F]+|[0-9]+#[0-9A-Za-z]+)$`)

// arithmetic looks at an expression. The shell evaluates the values of its
// variables as expressions, and runs what stands in an index there, so each
// must be a number for sure.
func (s *scan) arithmetic(x syntax.ArithmExpr, in syntax.Node) {
	if !s.isArithmetic(x) {
		s.unknown(s.text(in), "evaluates what may run commands")
	}
}

func (s *scan) isArithmetic(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if name := assignedName(x); name != "" {
			w := x.X.(*syntax.Word)
			return variableName.MatchString(name) && !s.known.isDangerous(name) && s.isArithmetic(x.Y) &&
				(x.Op == syntax.Assgn || s.isArithmetic(w))
		}
		return s.isArithmetic(x.X) && s.isArithmetic(x.Y)
	case *syntax.UnaryArithm:
		return s.isArithmetic(x.X)
	case *syntax.ParenArithm:
		return s.isArithmetic(x.X)
	case *syntax.Word:
		lit := x.Lit()
		switch {
		case variableName.MatchString(lit):
			isShellsOwn := numbersOfShell.MatchString(lit) && s.values.of[lit] == nil
			return isShellsOwn || s.values.at(lit, x.Pos().Offset()).number
		case isAll(x), numeral.MatchString(lit):
			return true
		}
		return s.isNumber(x)
	}
	return false
}

// isAll reports whether an index is @ or *: all of an array.
func isAll(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// comparison looks at [[ a -eq b ]], which evaluates both sides.
func (s *scan) comparison(node *syntax.BinaryTest) {
	switch node.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
	default:
		return
	}
	for _, side := range []syntax.TestExpr{node.X, node.Y} {
		if w, ok := side.(*syntax.Word); !ok || !s.isNumber(w) {
			s.unknown(s.text(node), "evaluates what may run commands")
			return
		}
	}
}

// expansion looks at ${…}.
func (s *scan) expansion(p *syntax.ParamExp) {
	switch {
	case p.Flags != nil || p.NestedParam != nil || p.Modifiers != nil ||
		p.GlobSubst != 0 || p.Split != 0 || p.RcExpand != 0 || p.Width || p.IsSet:
		s.unknown(s.text(p), "is an expansion of one shell")
	case p.Excl && p.Names == 0 && !isAll(p.Index):
		s.unknown(s.text(p), "takes the name of a variable from another")
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && !isQuoting(p.Exp.Word):
		s.unknown(s.text(p), "may run what the variable holds")
	case assigns(p) && p.Param != nil && s.known.isDangerous(p.Param.Value):
		s.unknown(s.text(p), "is a variable that changes what programs do")
	}
	if p.Index != nil {
		s.arithmetic(p.Index, p)
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				s.arithmetic(x, p)
			}
		}
	}
}

// assigns reports whether an expansion sets its variable: ${x:=…}.
func assigns(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull)
}

// isQuoting reports whether ${x@…} only quotes or changes case.
func isQuoting(w *syntax.Word) bool {
	switch w.Lit() {
	case "Q", "U", "u", "L":
		return true
	}
	return false
}

// declares looks at declare, export and their like: -i and -n make assignments
// evaluate what they are given, and a name that is quoted may have an index.
func (s *scan) declares(node *syntax.DeclClause) {
	if node.Variant.Value == "nameref" {
		s.unknown(s.text(node), "gives a variable another name")
	}
	for _, a := range node.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		if w := s.word(a.Value); w.dynamic || !declareFlags.MatchString(w.text) {
			s.unknown(s.text(node), w.written()+" is not known to change nothing")
		}
	}
}
