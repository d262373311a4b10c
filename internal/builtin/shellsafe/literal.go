package shellsafe

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// computedBytes begin or are what some shell computes when they stand unquoted in a
// word: variables, patterns, braces, homes. Zsh also takes = and # for that.
const computedBytes = "$`*?[]{}"

// Literal returns the words of a line that is one command and nothing else, all of them
// written out: no second command, pipe, redirection, variable, substitution, pattern,
// assignment or keyword, and no control character. Quotes and backslashes are taken
// away. ok is false for any other line.
func Literal(line string) (words []string, ok bool) {
	if len(line) > maxLine || !utf8.ValidString(line) || strings.ContainsFunc(line, control) {
		return nil, false
	}
	file, err := parse(line, syntax.LangBash)
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || stmt.Negated || stmt.Background || stmt.Coprocess || len(stmt.Redirs)+len(call.Assigns) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		text, ok := literalWord(w)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, len(words) > 0
}

// control reports whether a character does something else than to be read; a tab is a
// blank.
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// literalWord is a word without its quotes; false when a part of it is computed.
func literalWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !unquoted(&b, part.Value, i == 0) {
				return "", false
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !doubleQuoted(&b, part) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unquoted writes the text of a part without quotes. first: the word begins with it.
func unquoted(b *strings.Builder, text string, first bool) bool {
	if first && text != "" && strings.IndexByte("~=#", text[0]) >= 0 || strings.Contains(text, ":~") ||
		strings.Contains(text, "=~") {
		return false
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			if i++; i == len(text) {
				return false
			}
			b.WriteByte(text[i])
		case strings.IndexByte(computedBytes, text[i]) >= 0:
			return false
		default:
			b.WriteByte(text[i])
		}
	}
	return true
}

func doubleQuoted(b *strings.Builder, quoted *syntax.DblQuoted) bool {
	for _, part := range quoted.Parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\", lit.Value[i+1]) >= 0 {
				i++
			}
			b.WriteByte(lit.Value[i])
		}
	}
	return true
}
