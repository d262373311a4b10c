package librefang

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// walker goes through a valid JSON object once and keeps the path of where it
// is, escaped as the inside of a JSON string.
type walker struct {
	src  []byte
	pos  int
	path []byte
	at   func(path []byte, start, end int)
}

// walk calls at for each string value of payload, a valid JSON object, in
// order, but for those under the top-level key _truncated. path is valid during
// the call; payload[start:end] is the string between its quotes.
func walk(payload []byte, at func(path []byte, start, end int)) {
	w := &walker{src: payload, at: at}
	w.blanks()
	w.object()
}

func (w *walker) value() {
	switch w.src[w.pos] {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		start := w.pos + 1
		w.string()
		w.at(w.path, start, w.pos-1)
	default:
		for !ends(w.src[w.pos]) {
			w.pos++
		}
	}
}

func (w *walker) object() {
	parent := len(w.path)
	for w.pos++; w.more('}'); w.path = w.path[:parent] {
		start := w.pos + 1
		w.string()
		key := w.src[start : w.pos-1]
		w.blanks()
		w.pos++ // the colon
		w.blanks()
		w.key(key)
		if parent == 0 && string(w.path) == truncatedKey {
			w.skip()
			continue
		}
		w.value()
	}
}

func (w *walker) array() {
	parent := len(w.path)
	w.pos++
	for i := int64(0); w.more(']'); i++ {
		w.path = append(w.path, '[')
		w.path = append(strconv.AppendInt(w.path, i, 10), ']')
		w.value()
		w.path = w.path[:parent]
	}
}

// skip passes a value without calling at.
func (w *walker) skip() {
	at := w.at
	w.at = func([]byte, int, int) {}
	w.value()
	w.at = at
}

// more steps to the next element of an object or array; behind its end if
// there is none.
func (w *walker) more(end byte) bool {
	w.blanks()
	switch w.src[w.pos] {
	case end:
		w.pos++
		return false
	case ',':
		w.pos++
		w.blanks()
	}
	return true
}

// key appends a key, as it is escaped in the payload, to the path.
func (w *walker) key(key []byte) {
	if isPlain(key) {
		if len(w.path) > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, key...)
		return
	}
	w.path = append(w.path, `[\"`...)
	for _, c := range key {
		if c == '"' || c == '\\' {
			w.path = append(w.path, '\\')
		}
		w.path = append(w.path, c)
	}
	w.path = append(w.path, `\"]`...)
}

// isPlain reports whether a key can stand in a path without brackets.
func isPlain(key []byte) bool {
	for _, c := range key {
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
		if !isLetter && !('0' <= c && c <= '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(key) > 0
}

// string passes the string that begins here.
func (w *walker) string() {
	for w.pos++; w.src[w.pos] != '"'; w.pos++ {
		if w.src[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
}

func (w *walker) blanks() {
	for w.pos < len(w.src) && isBlank(w.src[w.pos]) {
		w.pos++
	}
}

// The digit that follows \uD in each half of a pair.
const (
	highSurrogate = "89ab"
	lowSurrogate  = "cdef"
)

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func ends(c byte) bool    { return c == ',' || c == '}' || c == ']' || isBlank(c) }

// cut returns the length of the longest part of text, the escaped inside of a
// JSON string, that has at most limit bytes and ends between characters.
func cut(text []byte, limit int) int {
	end := 0
	for end < len(text) {
		n := character(text[end:])
		if end+n > limit {
			break
		}
		end += n
	}
	return end
}

// character returns the length in bytes of the character with which text
// begins: an escape, a pair of surrogates, or a rune.
func character(text []byte) int {
	if text[0] != '\\' {
		_, n := utf8.DecodeRune(text)
		return n
	}
	if text[1] != 'u' {
		return 2
	}
	isPair := len(text) >= 12 && surrogate(text, highSurrogate) &&
		text[6] == '\\' && text[7] == 'u' && surrogate(text[6:], lowSurrogate)
	if isPair {
		return 12
	}
	return 6
}

// surrogate reports whether text is \uD followed by one of the digits.
func surrogate(text []byte, digits string) bool {
	return text[2]|0x20 == 'd' && strings.IndexByte(digits, text[3]|0x20) >= 0
}
