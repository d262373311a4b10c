package secrets

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// search is one look at a text and at all text that is written with escapes within.
// left bounds how much they may decode together: text can be escaped more often than
// any program reads it.
type search struct {
	left int
}

func newSearch(s string) *search { return &search{left: 1<<20 + 8*len(s)} }

// spans returns the secrets in s, in order and apart from each other.
func (w *search) spans(s string) []span {
	if found, ok := w.document(s, "", nil); ok {
		return found
	}
	return w.text(s)
}

// text looks at s as it stands, and at its form once its escapes are decoded:
// a line of a log may hold JSON, and that a string with JSON.
func (w *search) text(s string) []span {
	found := merge(Find(s), s)
	if !hasEscape(s) || w.left < len(s) {
		return found
	}
	w.left -= len(s)
	return join(found, encoded(s, w.text(decode(s))))
}

func hasEscape(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return false
		}
		if from, _, _ := escape(s[i:]); from > 1 {
			return true
		}
		s = s[i+1:]
	}
}

// decode replaces the escapes of JSON in s. A backslash that begins none stays.
func decode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		from, _, r := escape(s[i:])
		b.WriteString(s[:i])
		b.WriteRune(r)
		s = s[i+from:]
	}
}

// encoded returns where in s the spans of decode(s) are. They are in order.
func encoded(s string, spans []span) []span {
	at, plain := 0, 0 // in s and in decode(s)
	skip := func(upto int) int {
		for plain < upto {
			i := strings.IndexByte(s[at:], '\\')
			if i < 0 || i >= upto-plain {
				at, plain = at+upto-plain, upto
				break
			}
			from, to, _ := escape(s[at+i:])
			at, plain = at+i+from, plain+i+to
		}
		return at
	}
	for i, sp := range spans {
		spans[i].start = skip(sp.start)
		spans[i].end = skip(sp.end)
	}
	return spans
}

// escape reads the escape at the beginning of s: its length, the length of its
// character, and the character. A backslash that begins no escape stands for itself.
func escape(s string) (from, to int, r rune) {
	if len(s) > 1 {
		if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
			return 2, 1, rune("\"\\/\b\f\n\r\t"[i])
		}
	}
	r, ok := unit(s)
	if !ok {
		return 1, 1, '\\'
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unit(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return 12, utf8.RuneLen(pair), pair
			}
		}
		r = utf8.RuneError
	}
	return 6, utf8.RuneLen(r), r
}

// unit reads \uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// join returns both lists as one, in order and without overlaps.
func join(a, b []span) []span {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	all := append(a, b...)
	slices.SortFunc(all, func(x, y span) int { return x.start - y.start })
	apart := all[:1]
	for _, sp := range all[1:] {
		if last := &apart[len(apart)-1]; sp.start < last.end {
			last.end = max(last.end, sp.end)
			continue
		}
		apart = append(apart, sp)
	}
	return apart
}
