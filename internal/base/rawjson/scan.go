package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Scanner finds the top-level members of one JSON object that is known to be
// valid, without checking it again. Scan makes one.
type Scanner struct {
	src        []byte
	pos        int    // behind the last value, or behind the opening brace
	first      int    // behind the opening brace
	key        []byte // without quotes, still escaped
	escaped    bool   // key has escapes
	start, end int    // of the value; 0 before the first
}

// Scan returns a scanner before the first member of obj. Anything but an object has no members.
func Scan(obj []byte) *Scanner {
	s := &Scanner{src: obj}
	s.blanks()
	if s.pos == len(obj) || obj[s.pos] != '{' {
		s.pos = len(obj)
		return s
	}
	s.pos++
	s.first = s.pos
	return s
}

// Next steps to the following member; false at the end.
func (s *Scanner) Next() bool {
	s.blanks()
	if s.pos < len(s.src) && s.src[s.pos] == ',' {
		s.pos++
		s.blanks()
	}
	if s.pos >= len(s.src) || s.src[s.pos] != '"' {
		return false
	}
	end := endOfString(s.src, s.pos)
	s.escaped = endOfPlain(s.src, s.pos+1) != end-1
	s.key = s.src[s.pos+1 : max(end-1, s.pos+1)]
	s.pos = end
	s.blanks()
	s.pos++ // the colon
	s.blanks()
	if s.pos >= len(s.src) {
		return false // not reached with valid JSON
	}
	s.start = s.pos
	s.end = endOfValue(s.src, s.pos)
	s.pos = s.end
	return true
}

// Value returns the value of the member, a part of the source.
func (s *Scanner) Value() json.RawMessage { return s.src[s.start:s.end:s.end] }

// Is reports whether the key under the Scanner is name.
func (s *Scanner) Is(name string) bool {
	if !s.escaped {
		return string(s.key) == name
	}
	return Unescape(s.key) == name
}

// Key returns the name of the member.
func (s *Scanner) Key() string {
	if !s.escaped {
		return string(s.key)
	}
	return Unescape(s.key)
}

func (s *Scanner) blanks() {
	for s.pos < len(s.src) && isBlank(s.src[s.pos]) {
		s.pos++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// endOfString returns the index behind the string that begins at src[i]: behind the first quote with an even number
// of backslashes right before it.
func endOfString(src []byte, i int) int {
	for at := i + 1; at < len(src); {
		quote := bytes.IndexByte(src[at:], '"')
		if quote < 0 {
			break
		}
		text := src[at : at+quote]
		at += quote + 1
		if (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 0 {
			return at
		}
	}
	return len(src)
}

// endOfValue returns the index behind the value that begins at src[i].
func endOfValue(src []byte, i int) int {
	switch src[i] {
	case '"':
		return endOfString(src, i)
	case '{', '[':
		return endOfNested(src, i)
	}
	for i < len(src) && src[i] != ',' && src[i] != '}' && src[i] != ']' && !isBlank(src[i]) {
		i++
	}
	return i
}

// endOfNested returns the index behind the object or array at src[i].
func endOfNested(src []byte, i int) int {
	for depth := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			i = endOfString(src, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(src)
}

// Text returns the text of raw, and whether raw is a string.
func Text(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return Unescape(raw[1 : len(raw)-1]), true
}

// Unescape returns the text of a valid JSON string without its quotes.
func Unescape(inner []byte) string {
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	quoted := make([]byte, 0, len(inner)+2)
	quoted = append(append(append(quoted, '"'), inner...), '"')
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(inner) // not reached with valid JSON
	}
	return s
}

// Quote returns s as a JSON string. Bytes that are not UTF-8 become U+FFFD;
// < > & stay as they are.
func Quote(s string) json.RawMessage {
	return AppendString(make([]byte, 0, len(s)+2), s)
}

// isPlain reports which bytes stand in a JSON string as they are; bytes of longer
// characters have to be looked at together.
var isPlain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// allPlain reports it of eight bytes.
func allPlain(s string) bool {
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (endsPlain(x)|x)&0x8080808080808080 == 0
}

// AppendString appends s to dst as Quote writes it.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		plain := i
		for i+8 <= len(s) && allPlain(s[i:i+8]) {
			i += 8
		}
		for i < len(s) && isPlain[s[i]] {
			i++
		}
		if dst = append(dst, s[plain:i]...); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
	}
	return append(dst, '"')
}
