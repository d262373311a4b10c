package familiar

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// form is how a variable is written in place of a placeholder, so that its value arrives
// unchanged: one word, nothing expanded, nothing split.
type form string

// The verb is the variable's name.
const (
	formBare       form = `"${%s}"` // a word or a part of one
	formDouble     form = `${%s}`   // in double quotes and here-documents
	formArithmetic form = `(${%s})` // a number; the parentheses keep its sign to itself
)

// around is the surroundings of a part of a word: the nearest thing outside of the part
// that changes the meaning of characters.
type around int

const (
	aroundNothing    around = iota // plain shell text
	aroundDouble                   // double quotes
	aroundHeredoc                  // the body of a here-document
	aroundArithmetic               // $((…))
)

// enclosing returns the surroundings of the last node of path. A command substitution begins
// again; parameter expansions do not count.
func enclosing(path []syntax.Node) around {
	for i := len(path) - 2; i >= 0; i-- {
		switch n := path[i].(type) {
		case *syntax.CmdSubst:
			return aroundNothing
		case *syntax.DblQuoted:
			return aroundDouble
		case *syntax.ArithmExp:
			return aroundArithmetic
		case *syntax.Redirect:
			if path[i+1] == n.Hdoc {
				return aroundHeredoc
			}
			return aroundNothing
		}
	}
	return aroundNothing
}

// misplacedQuotes returns why a mark cannot be in the single quotes that are the last
// node of path; "" = it can.
func misplacedQuotes(path []syntax.Node) (why string) {
	if outside := enclosing(path[:len(path)-1]); outside != aroundNothing {
		return "in single quotes within " + outside.String()
	}
	return ""
}

// formAt returns the form for a mark in the last node of path, which is a literal; or why
// it cannot be there.
func formAt(path []syntax.Node) (f form, why string) {
	outside := enclosing(path[:len(path)-1]) // of the word or the quotes
	switch p := path[len(path)-2].(type) {
	case *syntax.DblQuoted:
		if outside == aroundArithmetic || outside != aroundNothing && inExpansion(path) {
			return "", "in double quotes within " + outside.String()
		}
		return formDouble, ""
	case *syntax.Word:
		return formInWord(p, path[:len(path)-1], outside)
	}
	return "", "in a name"
}

func formInWord(w *syntax.Word, path []syntax.Node, outside around) (f form, why string) {
	switch owner := path[len(path)-2].(type) {
	case *syntax.ParamExp:
		return formInExpansion(owner, w, outside)
	case *syntax.Redirect:
		switch {
		case owner.Hdoc == w:
			return formDouble, ""
		case owner.Op == syntax.Hdoc || owner.Op == syntax.DashHdoc:
			return "", "in the delimiter of a here-document"
		}
		return formBare, ""
	case *syntax.CallExpr, *syntax.Assign, *syntax.WordIter, *syntax.CaseClause, *syntax.CaseItem:
		return formBare, ""
	case *syntax.ArithmExp, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
		if len(w.Parts) != 1 || w.End().Offset()-w.Pos().Offset() != markLen {
			return "", "in a part of a number or name in $((…))"
		}
		return formArithmetic, ""
	}
	return "", "here"
}

// formInExpansion is for ${name:-{{x}}} and its kin.
func formInExpansion(e *syntax.ParamExp, w *syntax.Word, outside around) (f form, why string) {
	if outside == aroundNothing {
		return formBare, ""
	}
	if outside == aroundArithmetic || !plain(w) {
		return "", "in ${…} within " + outside.String()
	}
	switch e.Exp.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if outside == aroundHeredoc {
			return "", "in a pattern within a here-document"
		}
		return formBare, "" // quoted again, or it would be a pattern
	}
	return formDouble, ""
}

// plain reports whether a word holds neither quotes nor backslashes, which
// shells read differently in ${…} within double quotes.
func plain(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return false
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\'"`) {
				return false
			}
		}
	}
	return true
}

func inExpansion(path []syntax.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i].(type) {
		case *syntax.CmdSubst:
			return false
		case *syntax.ParamExp:
			return true
		}
	}
	return false
}

func (a around) String() string {
	switch a {
	case aroundDouble:
		return "double quotes"
	case aroundHeredoc:
		return "a here-document"
	case aroundArithmetic:
		return "$((…))"
	}
	return "a command"
}

// plainDelimiter is a here-document's delimiter that needs no quotes.
var plainDelimiter = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// unquotedDelimiter returns a here-document's delimiter without its quotes,
// and whether it had any, so that the body is literal text.
func unquotedDelimiter(word string) (delimiter string, quoted bool) {
	if !strings.ContainsAny(word, `'"\`) {
		return word, false
	}
	return strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(word), true
}

// literalInHeredoc escapes the characters that an unquoted here-document would expand.
var literalInHeredoc = strings.NewReplacer(`\`, `\\`, `$`, `\$`, "`", "\\`")
