package pattern

import (
	"regexp"
	"strings"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"
)

// Quote is the pattern of a text.
func Quote(text string) string { return glob.QuoteMeta(text) }

// compileGlob compiles a pattern that gobwas/glob accepts.
func compileGlob(text string, separators []rune) (*bounded, error) {
	g, err := glob.Compile(text, separators...)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expression(text, separators))
	if err != nil { // longer or deeper than those may be
		return nil, err
	}
	b := &bounded{always: re}
	stars, braces := strings.Count(strings.ReplaceAll(text, "**", "*"), "*"), strings.Count(text, "{")
	if stars+braces <= 1 || len(separators)+braces == 0 {
		b.short = g
	}
	return b, nil
}

// bounded is a glob that takes time in proportion to the text. The library goes back and
// tries again where one of several `*` stops at separators or stands in braces: on a text
// of some hundred letters, which agents choose, that takes seconds. So it has short texts
// and simple patterns, for which it is many times as fast as a regular expression.
type bounded struct {
	short  *glob.Pattern // of texts up to shortText; nil = of none
	always *regexp.Regexp
}

const shortText = 512 // bytes, on which the library takes 0.2 ms at most

// Match reports whether the glob matches the whole of text.
func (b *bounded) Match(text string) bool {
	if b.short != nil && len(text) <= shortText {
		return b.short.Match(text)
	}
	return b.always.MatchString(text)
}

// expression returns the regular expression of a valid glob.
func expression(text string, separators []rune) string {
	one := "(?s:.)"
	if len(separators) > 0 {
		one = "[^" + regexp.QuoteMeta(string(separators)) + "]"
	}
	var b strings.Builder
	b.WriteString(`\A(?:`)
	inClass := false
	for lexer := syntax.NewLexer(text); ; {
		switch t := lexer.Next(); t.Type {
		case syntax.Text:
			if inClass {
				b.WriteString(literalClass(t.Data))
			} else {
				b.WriteString(regexp.QuoteMeta(t.Data))
			}
		case syntax.Any:
			b.WriteString(one + "*")
		case syntax.Super:
			b.WriteString("(?s:.*)")
		case syntax.Single:
			b.WriteString(one)
		case syntax.RangeOpen:
			inClass = true
			b.WriteByte('[')
		case syntax.Not:
			b.WriteByte('^')
		case syntax.RangeLo, syntax.RangeHi:
			b.WriteString(literalClass(t.Data))
		case syntax.RangeBetween:
			b.WriteByte('-')
		case syntax.RangeClose:
			inClass = false
			b.WriteByte(']')
		case syntax.TermsOpen:
			b.WriteString("(?:")
		case syntax.TermSeparator:
			b.WriteByte('|')
		case syntax.TermsClose:
			b.WriteByte(')')
		default: // the end: compileGlob has seen that there is no error
			return b.String() + `)\z`
		}
	}
}

// literalClass is text within a class of characters.
func literalClass(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\]^-[&~`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
