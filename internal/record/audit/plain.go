package audit

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/escape"
)

// plain returns JSON with every character that a person cannot see escaped, as \u009b. It
// means the same. Blanks of ASCII between values stay.
func plain(text []byte) []byte {
	if !bytes.ContainsFunc(text, unseen) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		if !unseen(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// unseen reports whether plain escapes r: JSON escapes the hidden characters of ASCII below 0x7f.
func unseen(r rune) bool { return r >= 0x7f && escape.Hidden(r) }

// raw takes back plain: it returns JSON with the characters that plain escapes as themselves.
func raw(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if text[0] != '\\' || len(text) == 1 {
			out, text = append(out, text[0]), text[1:]
			continue
		}
		r, size := escaped(text)
		if size == 0 || !unseen(r) {
			out, text = append(out, text[:2]...), text[2:]
			continue
		}
		out, text = utf8.AppendRune(out, r), text[size:]
	}
	return out
}

// escaped reads \uXXXX, or two of them that are one character, at the beginning of text;
// size 0 = there is none.
func escaped(text []byte) (r rune, size int) {
	unit := func(at int) rune {
		if len(text) < at+6 || text[at] != '\\' || text[at+1] != 'u' {
			return utf8.RuneError
		}
		n, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		if err != nil {
			return utf8.RuneError
		}
		return rune(n)
	}
	r = unit(0)
	switch {
	case utf16.IsSurrogate(r):
		return utf16.DecodeRune(r, unit(6)), 12
	case r == utf8.RuneError:
		return r, 0
	}
	return r, 6
}
