package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deep values may nest: as deep as encoding/json takes them.
const maxDepth = 10_000

// Walker goes once over bytes that claim to be JSON. It finds the members of
// objects and checks everything it passes as encoding/json does, with which it
// agrees byte for byte (FuzzWalk), except that it does not check UTF-8. It
// allocates nothing. Walk makes one.
//
//	w := rawjson.Walk(line)
//	for w.Enter(); w.Member(); {
//		… w.Name(), w.Value() …
//	}
//	ok := w.End()
//
// Invalid JSON ends every loop, and End reports false.
type Walker struct {
	src   []byte
	pos   int
	depth int
	fresh bool // nothing of the object or array under way has been read
	bad   bool

	broken bool // there are line ends between the parts

	pause func() // nil = never
	piece int    // bytes between two calls of pause
	next  int    // where pause is called; behind the end of src: nowhere

	key     []byte // of the member, between its quotes, still escaped
	escaped bool   // key has escapes
}

// Walk returns a walker at the first byte of src.
func Walk(src []byte) Walker { return Walker{src: src, next: len(src) + 1} }

// InPieces has pause called after about each piece bytes, which is more than 0: a number, a
// word or a key is not interrupted.
func (w *Walker) InPieces(piece int, pause func()) {
	w.piece, w.pause = piece, pause
	w.next = min(w.pos+piece, len(w.src)+1)
}

// rest calls pause, which is due.
func (w *Walker) rest() {
	w.pause()
	w.next = min(w.pos+w.piece, len(w.src)+1)
}

// Pos returns the index in src of the byte that the walker is at.
func (w *Walker) Pos() int { return w.pos }

// Broken reports whether the walker has passed a line end between two parts.
func (w *Walker) Broken() bool { return w.broken }

// Enter steps into the object that begins here.
func (w *Walker) Enter() {
	w.open('{')
	w.fresh = true
}

// EnterList steps into the array that begins here.
func (w *Walker) EnterList() {
	w.open('[')
	w.fresh = true
}

// Element steps to the next value of the array; at the array's end, over it. The
// caller has to skip or enter the value.
func (w *Walker) Element() bool {
	if !w.more(']', w.fresh) {
		return false
	}
	w.fresh = false
	return true
}

// open steps over a bracket.
func (w *Walker) open(bracket byte) {
	w.expect(bracket)
	if w.depth++; w.depth > maxDepth {
		w.bad = true
	}
}

// Member steps to the value of the next member of the object; at the object's
// end, over it. The caller has to skip or enter the value.
func (w *Walker) Member() bool {
	if w.nextPlain() {
		return true
	}
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
	w.Blanks()
	w.expect(':')
	w.Blanks()
	return !w.bad
}

// nextPlain is Member for a key without escapes and no blanks around it, as most are
// written. It is false, and has done nothing, for any other.
func (w *Walker) nextPlain() bool {
	src, start := w.src, w.pos
	if w.bad || len(src)-start < len(`,"":0`) {
		return false
	}
	if !w.fresh {
		if src[start] != ',' {
			return false
		}
		start++
	}
	if src[start] != '"' {
		return false
	}
	start++
	end := endOfPlain(src, start)
	if len(src)-end < len(`":0`) || src[end] != '"' || src[end+1] != ':' || isBlank(src[end+2]) {
		return false
	}
	w.key, w.escaped, w.fresh, w.pos = src[start:end], false, false, end+len(`":`)
	return true
}

// more steps to the next part of an object or array, over the comma before it
// unless it is the first; at the closing bracket, over that.
func (w *Walker) more(closing byte, first bool) bool {
	w.Blanks()
	if w.At() == closing {
		w.pos++
		w.depth--
		w.fresh = false
		return false
	}
	if !first {
		w.expect(',')
		w.Blanks()
	}
	return !w.bad
}

// Skip steps over the value that begins here.
func (w *Walker) Skip() {
	if w.pos >= w.next {
		w.rest()
	}
	switch c := w.At(); c {
	case '"':
		w.text()
	case '{':
		for w.Enter(); w.Member(); {
			w.Skip()
		}
	case '[':
		for w.EnterList(); w.Element(); {
			w.Skip()
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

// Value steps over the value that begins here and returns it.
func (w *Walker) Value() []byte {
	start := w.pos
	w.Skip()
	return w.src[start:w.pos:w.pos]
}

// Name returns the key of the member without escapes.
func (w *Walker) Name() []byte {
	if !w.escaped {
		return w.key
	}
	return []byte(Unescape(w.key))
}

// End reports whether all was one good value.
func (w *Walker) End() bool {
	w.Blanks()
	return !w.bad && w.pos == len(w.src)
}

// At returns the byte here, 0 at the end and once something was bad.
func (w *Walker) At() byte {
	if w.bad || w.pos >= len(w.src) {
		return 0
	}
	return w.src[w.pos]
}

func (w *Walker) expect(c byte) {
	if w.At() != c {
		w.bad = true
		return
	}
	w.pos++
}

// Blanks steps over white space.
func (w *Walker) Blanks() {
	for ; w.pos < len(w.src) && isBlank(w.src[w.pos]); w.pos++ {
		if c := w.src[w.pos]; c == '\n' || c == '\r' {
			w.broken = true
		}
	}
}

func (w *Walker) word(text string) {
	if w.bad || len(w.src)-w.pos < len(text) || string(w.src[w.pos:w.pos+len(text)]) != text {
		w.bad = true
		return
	}
	w.pos += len(text)
}

// text steps over a string and reports whether it has escapes.
func (w *Walker) text() (escaped bool) {
	w.expect('"')
	for !w.bad {
		w.pos = endOfPlain(w.src[:min(w.next, len(w.src))], w.pos)
		if w.pos >= w.next {
			w.rest()
			continue
		}
		switch w.At() {
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

func (w *Walker) escape() {
	w.pos++
	switch w.At() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.pos++
	case 'u':
		w.pos++
		for range 4 {
			if !isHex(w.At()) {
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

func (w *Walker) number() {
	if w.At() == '-' {
		w.pos++
	}
	if w.At() == '0' {
		w.pos++
	} else {
		w.digits()
	}
	if w.At() == '.' {
		w.pos++
		w.digits()
	}
	if c := w.At(); c == 'e' || c == 'E' {
		w.pos++
		if c := w.At(); c == '+' || c == '-' {
			w.pos++
		}
		w.digits()
	}
}

// digits steps over one or more.
func (w *Walker) digits() {
	start := w.pos
	for c := w.At(); '0' <= c && c <= '9'; c = w.At() {
		w.pos++
	}
	if w.pos == start {
		w.bad = true
	}
}

// endOfPlain returns the index of the first byte from src[i] on that ends the
// plain part of a string: a quote, a backslash or a control character. It looks at eight bytes
// at a time.
func endOfPlain(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		if a := endsPlain(binary.LittleEndian.Uint64(src[i:])); a != 0 {
			return i + bits.TrailingZeros64(a)/8
		}
	}
	for i < len(src) && src[i] != '"' && src[i] != '\\' && src[i] >= ' ' {
		i++
	}
	return i
}

// endsPlain has the high bit of the first byte in x that ends a plain part, and maybe
// the high bits of bytes behind that byte. With one bit changed, a quote comes to lie
// right above the control characters, so one subtraction finds both.
func endsPlain(x uint64) uint64 {
	const ones = 0x0101010101010101
	quoteOrControl := (x ^ ones*2) - ones*('"'^2+1)
	backslash := (x ^ ones*'\\') - ones
	return (quoteOrControl | backslash) &^ x & (ones << 7)
}
