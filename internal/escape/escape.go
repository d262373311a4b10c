// Package escape makes text of an agent or a hook harmless where people read it:
// on a terminal, in a log, in one line of a table, in a command to paste. It is pure
// and never fails.
package escape

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Keep is what Text leaves alone.
type Keep int

const (
	Nothing  Keep = iota
	Tabs          // one line of a text
	Newlines      // and tabs: text of several lines
)

// Text makes text from an agent or a hook harmless on a terminal: C0 and C1
// controls, DEL, line separators, the controls that turn the direction of
// writing, and invisible characters become \u and four hexadecimal
// digits, which inside JSON means the same text. Bytes that are not UTF-8 become U+FFFD.
func Text(s string, k Keep) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return harmful(r, k) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		if harmful(r, k) {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func harmful(r rune, k Keep) bool {
	if ' ' <= r && r < utf8.RuneSelf-1 { // most text is that
		return false
	}
	if k >= Tabs && r == '\t' || k == Newlines && r == '\n' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unseen, r)
}

// unseen are characters without a width that can hide text or make two names
// look like one: blanks of no width, invisible operators, and the tag
// characters that spell ASCII in secret. Joiners stay, as scripts and emoji
// need them.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x180e, Hi: 0x180e, Stride: 1}, {Lo: 0x200b, Hi: 0x200b, Stride: 1},
		{Lo: 0x2060, Hi: 0x2064, Stride: 1}, {Lo: 0x206a, Hi: 0x206f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}},
	LatinOffset: 1,
}

// Line is Text on one line: line ends and tabs are
// written as \n, \r and \t, and what is longer than most bytes ends in an
// ellipsis, within those bytes.
func Line(s string, most int) string {
	if strings.ContainsAny(s, "\r\n\t") {
		s = withoutBreaks(s)
	}
	s = Text(s, Nothing)
	if len(s) <= most {
		return s
	}
	end := most - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
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
