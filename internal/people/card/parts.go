package card

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/wire"
)

const (
	fewBlanks = 3  // within a line; a longer run is counted
	indent    = 40 // blanks that begin a line; a longer run is counted
)

// span is a marked part of an argument.
type span struct{ from, to int }

// parts cuts a line into parts. at is where it begins in its argument, marks are places
// in that.
func parts(text string, at int, marks []span) []wire.CardPart {
	w := writer{marks: marks, at: at}
	odd := escape.Odd(text)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		n := size
		if r == ' ' || r == '\t' || escape.Hidden(r) {
			n = size * run(text[i:], text[i:i+size])
		}
		_, isOdd := slices.BinarySearch(odd, i)
		switch {
		case r == ' ' && (n <= fewBlanks || i == 0 && n <= indent):
			w.add(i, text[i:i+n], "")
		case r == ' ':
			w.add(i, "["+Plural(n, "space")+"]", wire.PartBlank)
		case r == '\t' && i == 0 && n*4 <= indent:
			w.add(i, strings.Repeat("    ", n), "")
		case r == '\t':
			w.add(i, "["+counted(n, "tab")+"]", wire.PartBlank)
		case r == utf8.RuneError && size == 1:
			w.add(i, fmt.Sprintf("[0x%02X]", text[i]), wire.PartHidden)
		case r == utf8.RuneError, escape.Hidden(r):
			w.add(i, numbered(r, n/size), wire.PartHidden)
		case isOdd:
			w.add(i, numbered(r, 1), wire.PartOdd)
		default:
			w.add(i, text[i:i+size], "")
		}
		i += n
	}
	return w.done()
}

// run is how often text begins with one.
func run(text, one string) (n int) {
	for strings.HasPrefix(text, one) {
		text = text[len(one):]
		n++
	}
	return n
}

// numbered is the number of a character in its place, and how often it stands there.
func numbered(r rune, n int) string {
	if n == 1 {
		return fmt.Sprintf("[%U]", r)
	}
	return fmt.Sprintf("[%U ×%s]", r, Thousands(n))
}

// writer joins text that is alike to parts.
type writer struct {
	list  []wire.CardPart
	marks []span
	at    int
	text  strings.Builder
	is    string
	mark  bool
}

func (w *writer) add(at int, text, is string) {
	mark := slices.ContainsFunc(w.marks, func(s span) bool { return s.from <= w.at+at && w.at+at < s.to })
	if is != w.is || mark != w.mark {
		w.flush()
		w.is, w.mark = is, mark
	}
	w.text.WriteString(text)
}

func (w *writer) flush() {
	if w.text.Len() > 0 {
		w.list = append(w.list, wire.CardPart{Text: w.text.String(), Is: w.is, Mark: w.mark})
		w.text.Reset()
	}
}

func (w *writer) done() []wire.CardPart {
	w.flush()
	if w.list == nil {
		w.list = []wire.CardPart{}
	}
	return w.list
}

// length is how many characters parts have.
func length(list []wire.CardPart) (n int) {
	for _, p := range list {
		n += utf8.RuneCountInString(p.Text)
	}
	return n
}

// look counts the characters that a person has to look at.
type look struct {
	hidden, odd int
	kinds       []rune // hidden ones, in the order in which they come
	words       []string
}

const (
	mostKinds = 6
	mostWords = 3
)

func (l *look) count(text string) {
	for _, r := range text {
		if r == '\t' || !escape.Hidden(r) && r != utf8.RuneError {
			continue
		}
		l.hidden++
		if !slices.Contains(l.kinds, r) && len(l.kinds) < mostKinds {
			l.kinds = append(l.kinds, r)
		}
	}
	for _, at := range escape.Odd(text) {
		l.odd++
		r, _ := utf8.DecodeRuneInString(text[at:])
		word := fmt.Sprintf("%U is %s", r, escape.Alphabet(r))
		if !slices.Contains(l.words, word) && len(l.words) < mostWords {
			l.words = append(l.words, word)
		}
	}
}

func (l *look) says() (list []string) {
	if l.hidden > 0 {
		names := make([]string, len(l.kinds))
		for i, r := range l.kinds {
			names[i] = fmt.Sprintf("%U", r)
			if name := nameOf(r); name != "" {
				names[i] += " (" + name + ")"
			}
		}
		list = append(list, Plural(l.hidden, "invisible character")+", spelled out above: "+strings.Join(names, ", "))
	}
	if l.odd > 0 {
		list = append(list, Plural(l.odd, "letter")+" of another alphabet within a word: "+strings.Join(l.words, ", "))
	}
	return list
}

// nameOf is the word for a hidden character's effect; "" = there is no word for it here.
func nameOf(r rune) string {
	switch {
	case r == 0:
		return "NUL"
	case r == '\r':
		return "carriage return"
	case r == 0x1b:
		return "escape"
	case r == 0x08:
		return "backspace"
	case r == 0xa0:
		return "no-break space"
	case r == 0xad:
		return "soft hyphen"
	case r == 0x202e, r == 0x202b, r == 0x2067, r == 0x200f:
		return "turns the direction of writing"
	case r == 0x202d, r == 0x202a, r == 0x202c, r == 0x2066, r == 0x2068, r == 0x2069, r == 0x200e, r == 0x61c:
		return "direction of writing"
	case r == 0x200b, r == 0xfeff, r == 0x2060:
		return "no width"
	case r == 0x200c, r == 0x200d:
		return "joiner"
	case r == 0x3164, r == 0x115f, r == 0x1160, r == 0xffa0, r == 0x2800:
		return "drawn as a blank"
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef, 0x180b <= r && r <= 0x180f:
		return "variation selector"
	case 0xe0000 <= r && r <= 0xe007f:
		return "tag"
	case r == utf8.RuneError:
		return "not readable"
	}
	return ""
}

// Plural is a count of things: 1 call, 2,114 calls.
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + one + "s"
}

// counted is a word, with its number where that is more than one.
func counted(n int, one string) string {
	if n == 1 {
		return one
	}
	return Plural(n, one)
}

// Thousands writes 3000 as 3,000.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
