// Package escape makes text of an agent or a hook harmless and visible where people
// read it: on a terminal, on the page, in a log, in one line of a table, in a command
// to paste. It alone decides which characters people cannot see. It is pure and never
// fails.
package escape

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Keep names the characters that Text leaves alone.
type Keep int

const (
	Nothing  Keep = iota
	Tabs          // one line of a text
	Newlines      // and tabs: text of several lines
)

// Text makes text that others wrote harmless, and visible, where a person reads it.
// Characters that Hidden reports, and the letters of another alphabet in a word, become
// \u and four hexadecimal digits, which inside JSON means the same text. Bytes that are
// not UTF-8 become U+FFFD.
func Text(s string, k Keep) string {
	if plain(s, k) {
		return s
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	odd := Odd(s)
	var b strings.Builder
	for i, r := range s {
		isOdd := len(odd) > 0 && odd[0] == i
		if isOdd {
			odd = odd[1:]
		}
		if isOdd || Hidden(r) && !(k >= Tabs && r == '\t' || k == Newlines && r == '\n') {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether s has only characters of ASCII that Text leaves alone.
func plain(s string, k Keep) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case ' ' <= c && c < 0x7f, c == '\t' && k >= Tabs, c == '\n' && k == Newlines:
		default:
			return false
		}
	}
	return true
}

// Line is Text on one line: line ends and tabs are written as \n, \r and \t, and a text
// longer than most bytes ends in an ellipsis, within those bytes.
func Line(s string, most int) string {
	if strings.ContainsAny(s, "\r\n\t") {
		s = withoutBreaks(s)
	}
	s = Text(s, Nothing)
	if len(s) <= most {
		return s
	}
	return Head(s, most-len(ellipsis)) + ellipsis
}

// Head is the first n bytes of a text, or less where they end within a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)]
}

// Tail is the last n bytes of a text, or less where they begin within a character.
func Tail(s string, n int) string {
	from := max(0, len(s)-max(n, 0))
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

const ellipsis = "…"

// breaks makes its strings.Replacer when something first needs it: a bridge, which is started
// for each event, mostly does not.
var breaks struct {
	once sync.Once
	*strings.Replacer
}

func withoutBreaks(s string) string {
	breaks.once.Do(func() {
		breaks.Replacer = strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	})
	return breaks.Replace(s)
}
