package events

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deep values may nest: as deep as encoding/json takes them.
const maxDepth = 10_000

// walker goes once over bytes that claim to be JSON. It finds the members of
// objects and checks all that it passes as encoding/json does, on which it
// agrees byte for byte (FuzzWalk); only UTF-8 is not its business. It
// allocates nothing.
//
//	w := walker{src: line}
//	for w.enter(); w.member(); {
//		… w.name(), w.value() …
//	}
//	ok := w.end()
//
// What is no JSON sets bad, and ends every walk.
type walker struct {
	src   []byte
	pos   int
	depth int
	fresh bool // nothing of the object under way has been read
	bad   bool

	broken bool // there are line ends between the parts

	key     []byte // of the member, between its quotes, still escaped
	escaped bool   // key has escapes
}

// enter steps into the object that begins here.
func (w *walker) enter() {
	w.open('{')
	w.fresh = true
}

// open steps over a bracket.
func (w *walker) open(bracket byte) {
	w.expect(bracket)
	if w.depth++; w.depth > maxDepth {
		w.bad = true
	}
}

// member steps to the value of the next member of the object; at the object's
// end, over it. The caller has to skip or enter the value.
func (w *walker) member() bool {
	if !w.more('}', w.fresh) {
		return false
	}
	w.fresh = false
	start := w.pos + 1
	w.escaped = w.text()
	if w.bad {
		return false
	}
	w.key = w.src[start : w.pos-1]
	w.blanks()
	w.expect(':')
	w.blanks()
	return !w.bad
}

// more steps to the next part of an object or array, over the comma before it
// unless it is the first; at the closing bracket, over that.
func (w *walker) more(closing byte, first bool) bool {
	w.blanks()
	if w.at() == closing {
		w.pos++
		w.depth--
		w.fresh = false
		return false
	}
	if !first {
		w.expect(',')
		w.blanks()
	}
	return !w.bad
}

// skip steps over the value that begins here.
func (w *walker) skip() {
	switch c := w.at(); c {
	case '"':
		w.text()
	case '{':
		for w.enter(); w.member(); {
			w.skip()
		}
	case '[':
		w.open('[')
		for first := true; w.more(']', first); first = false {
			w.skip()
		}
	case 't':
		w.word("true")
	case 'f':
		w.word("false")
	case 'n':
		w.word("null")
	default:
		w.number()
	}
}

// value steps over the value that begins here and returns it.
func (w *walker) value() []byte {
	start := w.pos
	w.skip()
	return w.src[start:w.pos:w.pos]
}

// name returns the key of the member without escapes.
func (w *walker) name() []byte {
	if !w.escaped {
		return w.key
	}
	return []byte(unescape(w.key))
}

// end reports whether all was one good value.
func (w *walker) end() bool {
	w.blanks()
	return !w.bad && w.pos == len(w.src)
}

// at returns the byte here, 0 at the end and once something was bad.
func (w *walker) at() byte {
	if w.bad || w.pos >= len(w.src) {
		return 0
	}
	return w.src[w.pos]
}

func (w *walker) expect(c byte) {
	if w.at() != c {
		w.bad = true
		return
	}
	w.pos++
}

func (w *walker) blanks() {
	for ; w.pos < len(w.src) && isBlank(w.src[w.pos]); w.pos++ {
		if c := w.src[w.pos]; c == '\n' || c == '\r' {
			w.broken = true
		}
	}
}

func (w *walker) word(text string) {
	if w.bad || len(w.src)-w.pos < len(text) || string(w.src[w.pos:w.pos+len(text)]) != text {
		w.bad = true
		return
	}
	w.pos += len(text)
}

// text steps over a string and reports whether it has escapes.
func (w *walker) text() (escaped bool) {
	w.expect('"')
	for !w.bad {
		w.pos = endOfPlain(w.src, w.pos)
		switch w.at() {
		case '"':
			w.pos++
			return escaped
		case '\\':
			escaped = true
			w.escape()
		default: // a control character, or there is no more
			w.bad = true
		}
	}
	return escaped
}

func (w *walker) escape() {
	w.pos++
	switch w.at() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.pos++
	case 'u':
		w.pos++
		for range 4 {
			if !isHex(w.at()) {
				w.bad = true
				return
			}
			w.pos++
		}
	default:
		w.bad = true
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (w *walker) number() {
	if w.at() == '-' {
		w.pos++
	}
	if w.at() == '0' {
		w.pos++
	} else {
		w.digits()
	}
	if w.at() == '.' {
		w.pos++
		w.digits()
	}
	if c := w.at(); c == 'e' || c == 'E' {
		w.pos++
		if c := w.at(); c == '+' || c == '-' {
			w.pos++
		}
		w.digits()
	}
}

// digits steps over one or more.
func (w *walker) digits() {
	start := w.pos
	for c := w.at(); '0' <= c && c <= '9'; c = w.at() {
		w.pos++
	}
	if w.pos == start {
		w.bad = true
	}
}

// endOfPlain returns the index of the first byte from src[i] on that ends the
// plain part of a string: a quote, a backslash or a control character. It
// looks at sixteen bytes at a time.
func endOfPlain(src []byte, i int) int {
	for ; i+16 <= len(src); i += 16 {
		a, b := endsPlain(binary.LittleEndian.Uint64(src[i:])), endsPlain(binary.LittleEndian.Uint64(src[i+8:]))
		if a != 0 {
			return i + bits.TrailingZeros64(a)/8
		}
		if b != 0 {
			return i + 8 + bits.TrailingZeros64(b)/8
		}
	}
	for i < len(src) && src[i] != '"' && src[i] != '\\' && src[i] >= ' ' {
		i++
	}
	return i
}

// endsPlain has the high bit of the first byte in x that ends a plain part, and
// maybe those of bytes behind that one. With one bit changed, a quote comes to
// lie right above the control characters, so one subtraction finds both.
func endsPlain(x uint64) uint64 {
	const ones = 0x0101010101010101
	quoteOrControl := (x ^ ones*2) - ones*('"'^2+1)
	backslash := (x ^ ones*'\\') - ones
	return (quoteOrControl | backslash) &^ x & (ones << 7)
}
