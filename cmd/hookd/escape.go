package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What escape leaves alone.
type keep int

const (
	keepNothing  keep = iota
	keepTabs          // one line of a text
	keepNewlines      // and tabs: text of several lines
)

// escape makes text from an agent or a hook harmless on a terminal: C0 and C1
// controls, DEL, line separators, the controls that turn the direction of
// writing, and invisible characters become \u and four hexadecimal
// digits, which inside JSON means the same text. Bytes that are not UTF-8 become U+FFFD.
func escape(s string, k keep) string {
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

func harmful(r rune, k keep) bool {
	if k >= keepTabs && r == '\t' || k == keepNewlines && r == '\n' {
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

// escaper escapes what is written to a terminal, whole entries at a time.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), keepNewlines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
