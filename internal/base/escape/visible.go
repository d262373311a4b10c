package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a person cannot see r where it stands, or sees something else:
// controls, characters that turn the direction of writing or are ignored, variation
// selectors, tags, every blank but the space, and letters that are drawn as a blank.
func Hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.Is(hiddenTable, r)
}

// hiddenTable has the characters that Hidden reports beyond ASCII, and DEL. It is
// generated from the properties of Unicode: TestHiddenTable says how.
var hiddenTable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x007f, Hi: 0x00a0, Stride: 1}, {Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x1680, Hi: 0x1680, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x2000, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202f, Stride: 1}, {Lo: 0x205f, Hi: 0x206f, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3000, Hi: 0x3000, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, {Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x13430, Hi: 0x1343f, Stride: 1}, {Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
}

// alphabet is the writing that the letters of one word have in common; Chinese,
// Japanese and Korean writing is one, as its words mix scripts.
type alphabet uint8

const (
	noAlphabet alphabet = iota // digits, marks, and letters that every script shares
	latin
	eastAsian
	greek
	cyrillic
	armenian
	cherokee
	otherAlphabet
	styled // Latin letters in another dress: full width, mathematical, in circles
)

func alphabetOf(r rune) alphabet {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return latin
		}
		return noAlphabet
	case 0xff21 <= r && r <= 0xff5a, 0x1d400 <= r && r <= 0x1d7ff, 0x24b6 <= r && r <= 0x24e9,
		0x2100 <= r && r <= 0x214f, 0x1f110 <= r && r <= 0x1f189:
		return styled
	case !unicode.IsLetter(r):
		return noAlphabet
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return eastAsian
	case unicode.In(r, unicode.Common, unicode.Inherited):
		return noAlphabet
	case unicode.In(r, unicode.Greek, unicode.Coptic):
		return greek
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Armenian, r):
		return armenian
	case unicode.Is(unicode.Cherokee, r):
		return cherokee
	}
	return otherAlphabet
}

// Alphabet names the alphabet of a letter for people.
func Alphabet(r rune) string {
	switch alphabetOf(r) {
	case noAlphabet:
		return "of no alphabet"
	case latin:
		return "Latin"
	case eastAsian:
		return "East Asian"
	case greek:
		return "Greek"
	case cyrillic:
		return "Cyrillic"
	case armenian:
		return "Armenian"
	case cherokee:
		return "Cherokee"
	case styled:
		return "a Latin letter in another dress"
	}
	return "of another alphabet"
}

// Odd returns where in s the letters are whose alphabet does not belong in their word,
// in order: letters beside Latin letters, else beside the most frequent ones. A word is
// a run of letters, marks and digits; an escape such as \n or \u0456 ends it. Chinese,
// Japanese and Korean letters fit Latin ones.
func Odd(s string) (at []int) {
	start, until := -1, 0 // of the word, -1 = there is none; the end of what Text or JSON has written for a character
	foreign := false
	for i, r := range s {
		if i >= until && inWord(r) {
			if start < 0 {
				start, foreign = i, false
			}
			foreign = foreign || r >= utf8.RuneSelf
			continue
		}
		if start >= 0 && foreign {
			at = appendOdd(at, s[start:i], start)
		}
		start = -1
		if r == '\\' && i >= until {
			until = i + escaped(s[i:])
		}
	}
	if start >= 0 && foreign {
		at = appendOdd(at, s[start:], start)
	}
	return at
}

// escaped is the length of the escape that s begins with, a backslash: with a letter,
// or with u and four hexadecimal digits.
func escaped(s string) int {
	const whole = len(`\u0000`)
	if len(s) >= whole && s[1] == 'u' && strings.Trim(s[2:whole], "0123456789abcdefABCDEF") == "" {
		return whole
	}
	if strings.HasPrefix(s, `\\`) {
		return 1
	}
	return min(len(s), 2)
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return (unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) || alphabetOf(r) == styled) && !Hidden(r)
}

// appendOdd appends where the odd letters of a word are, which begins at start.
func appendOdd(at []int, word string, start int) []int {
	var count [styled + 1]int
	kinds := 0
	for _, r := range word {
		a := alphabetOf(r)
		if a != noAlphabet && count[a] == 0 {
			kinds++
		}
		count[a]++
	}
	if kinds < 2 || kinds == 2 && count[latin] > 0 && count[eastAsian] > 0 {
		return at
	}
	base := latin
	if count[latin] == 0 {
		for a := eastAsian; a <= styled; a++ {
			if count[a] > count[base] {
				base = a
			}
		}
	}
	for i, r := range word {
		a := alphabetOf(r)
		if a != noAlphabet && a != base && !(base == latin && a == eastAsian) {
			at = append(at, start+i)
		}
	}
	return at
}

// WithoutColours is the output of a program without the sequences that set colours,
// move the cursor or name the window. It also lacks the text that the program has
// printed over by a carriage return. It is for output of programs alone: in a command
// such a sequence is text.
func WithoutColours(s string) string {
	if !strings.ContainsAny(s, "\x1b\r\u009b") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimRight(line, "\r\n")
		b.WriteString(overwritten(withoutSequences(body)))
		if len(body) < len(line) && line[len(line)-1] == '\n' {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// overwritten is the last of the parts of a line between carriage returns that is not
// blank.
func overwritten(line string) string {
	parts := strings.Split(line, "\r")
	for i := len(parts) - 1; i > 0; i-- {
		if strings.TrimSpace(parts[i]) != "" {
			return parts[i]
		}
	}
	return parts[0]
}

// withoutSequences takes the control sequences of ECMA-48 out of a line: sequences that
// begin with CSI, the strings that begin with OSC, DCS, SOS, PM and APC, and escape
// sequences of a few characters. A sequence without an end goes to the end of the line.
func withoutSequences(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "\x1b\u009b")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		if s[at] != '\x1b' {
			s = afterFinal(s[at+len("\u009b"):], '0', '?', '@')
			continue
		}
		s = s[at+1:]
		switch {
		case s == "":
		case s[0] == '[':
			s = afterFinal(s[1:], '0', '?', '@')
		case strings.IndexByte("]PX^_", s[0]) >= 0:
			s = afterString(s[1:])
		default:
			s = afterFinal(s, ' ', '/', '0')
		}
	}
}

// afterFinal is s after bytes from low to high, bytes from space to /, and a last one
// from final to ~.
func afterFinal(s string, low, high, final byte) string {
	for s != "" && low <= s[0] && s[0] <= high {
		s = s[1:]
	}
	for s != "" && ' ' <= s[0] && s[0] <= '/' {
		s = s[1:]
	}
	if s != "" && final <= s[0] && s[0] <= '~' {
		s = s[1:]
	}
	return s
}

// afterString is s after the end of a control string.
func afterString(s string) string {
	for i := range len(s) {
		if s[i] == '\a' {
			return s[i+1:]
		}
		if s[i] == '\x1b' {
			return strings.TrimPrefix(s[i+1:], `\`)
		}
	}
	return ""
}
