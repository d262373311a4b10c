package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const plainText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="

// Quote returns text that can be pasted into a shell and shown on a terminal: plain
// words stay as they are, others get single quotes, and words with characters that a
// terminal would act on or hide become $'…', which bash, zsh and the sh of macOS read.
func Quote(text string) string {
	switch {
	case text != "" && strings.Trim(text, plainText) == "" && text[0] != '-':
		return text
	case utf8.ValidString(text) && !strings.ContainsFunc(text, unshown):
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError || unshown(r):
			_, size := utf8.DecodeRuneInString(text[i:])
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

// unshown reports whether a command that is shown has to spell r out.
func unshown(r rune) bool { return Hidden(r) || r != ' ' && !unicode.IsPrint(r) }
