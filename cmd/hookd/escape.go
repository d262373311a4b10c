package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What escape leaves alone.
type keep int

const (
	keepNothing  keep = iota
	keepNewlines      // and tabs: text of several lines
)

// escape makes text from an agent or a hook harmless on a terminal: C0 and C1
// controls, DEL, line separators and the controls that turn the direction of
// writing become \uXXXX, which inside JSON means the same text. Bytes that are
// not UTF-8 become U+FFFD.
func escape(s string, k keep) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return harmful(r, k) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		if harmful(r, k) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func harmful(r rune, k keep) bool {
	if k == keepNewlines && (r == '\n' || r == '\t') {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// escaper escapes what is written to a terminal, whole entries at a time.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), keepNewlines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
