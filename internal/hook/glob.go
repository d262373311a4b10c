package hook

import (
	"regexp"
	"strings"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"
)

// matcher matches a whole text.
type matcher interface{ Match(text string) bool }

// compileGlob compiles a pattern that gobwas/glob accepts. Its own matcher goes back and
// tries again where a `*` stops at separators or stands in braces: on a text of some
// thousand letters, which agents choose, that takes minutes. Such a pattern becomes a
// regular expression, which takes time in proportion to the text.
func compileGlob(text string, separators []rune) (matcher, error) {
	g, err := glob.Compile(text, separators...)
	if err != nil || len(separators) == 0 && !strings.Contains(text, "{") {
		return g, err
	}
	re, err := regexp.Compile(expression(text, separators))
	if err != nil { // longer or deeper than those may be
		return nil, err
	}
	return linear{re}, nil
}

// linear is a glob as a regular expression.
type linear struct{ *regexp.Regexp }

// Match fits matcher.
func (l linear) Match(text string) bool { return l.MatchString(text) }

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
