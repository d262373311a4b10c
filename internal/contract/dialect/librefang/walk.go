package librefang

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// walker goes through a valid JSON object once and keeps the path of where it
// is, escaped as the inside of a JSON string.
type walker struct {
	src    []byte
	tokens rawjson.Lexer[[]byte]
	path   []byte
	at     func(path []byte, start, end int)
}

// walk calls at for each string value of payload, a valid JSON object, in order, except
// for the strings under the top-level key _truncated. path is valid during the call;
// payload[start:end] is the string between its quotes.
func walk(payload []byte, at func(path []byte, start, end int)) {
	w := &walker{src: payload, tokens: rawjson.Lex(payload), at: at}
	if w.tokens.Next() {
		w.value()
	}
}

// value passes the value whose first token was read.
func (w *walker) value() {
	switch w.tokens.Kind {
	case '{':
		w.object()
	case '[':
		w.array()
	case rawjson.KindString:
		w.at(w.path, w.tokens.Start+1, w.tokens.End-1)
	}
}

func (w *walker) object() {
	parent := len(w.path)
	for w.tokens.Next() && w.tokens.Kind != '}' {
		w.key(w.src[w.tokens.Start+1 : w.tokens.End-1])
		w.tokens.Next()
		if parent == 0 && string(w.path) == truncatedKey {
			w.skip()
		} else {
			w.value()
		}
		w.path = w.path[:parent]
	}
}

func (w *walker) array() {
	parent := len(w.path)
	for i := int64(0); w.tokens.Next() && w.tokens.Kind != ']'; i++ {
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

// The digit that follows \uD in each half of a pair.
const (
	highSurrogate = "89ab"
	lowSurrogate  = "cdef"
)

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
