package rawjson

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// fewKeys of an object are compared with each other.
const fewKeys = 8

// Unclear returns why programs read different things in value, which must be valid JSON; "" = they do
// not. It finds half of a pair of \u escapes, for which each program puts another text, and a key that
// an object has twice, in whatever letter case, with different values: each takes another one.
func Unclear(value []byte) string {
	w := Walk(value)
	w.Blanks()
	return w.unclear()
}

// unclear is Unclear of the value that begins here, and steps over it.
func (w *Walker) unclear() (why string) {
	switch w.At() {
	case '"':
		return halfPair(w.Value())
	case '[':
		for w.EnterList(); why == "" && w.Element(); {
			why = w.unclear()
		}
	case '{':
		var keys keys
		for w.Enter(); why == "" && w.Member(); {
			key, start := w.key, w.Pos()
			if why = halfPair(key); why == "" {
				why = w.unclear()
			}
			if why == "" && keys.clash(key, w.src[start:w.Pos()]) {
				why = fmt.Sprintf("the key %.40q twice, with different values", Unescape(key))
			}
		}
	default:
		w.Skip()
	}
	return why
}

// keys are those of an object, with their values.
type keys struct {
	n      int
	few    [fewKeys]Field
	folded map[string][]byte // once they are more
}

// clash adds a key and reports whether it was there with another value.
func (k *keys) clash(key, value []byte) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = []byte(Unescape(key))
	}
	if k.n < fewKeys {
		for _, f := range k.few[:k.n] {
			if bytes.EqualFold(f.Key, key) && !bytes.Equal(f.Value, value) {
				return true
			}
		}
		k.few[k.n] = Field{key, value}
		k.n++
		return false
	}
	if k.folded == nil {
		k.folded = make(map[string][]byte, 2*fewKeys)
		for _, f := range k.few {
			k.folded[fold(f.Key)] = f.Value
		}
	}
	name := fold(key)
	was, there := k.folded[name]
	k.folded[name] = value
	return there && !bytes.Equal(was, value)
}

// fold returns the same text for keys that differ in letter case alone.
func fold(key []byte) string {
	return strings.Map(func(r rune) rune {
		for next := unicode.SimpleFold(r); ; r, next = next, unicode.SimpleFold(next) {
			if next <= r {
				return next
			}
		}
	}, string(key))
}

// halfPair says that a string, still escaped, has one half of a UTF-16 pair without the other.
func halfPair(text []byte) string {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return ""
		}
		if text = text[at:]; text[1] != 'u' {
			text = text[2:]
			continue
		}
		escape := text[:6]
		if text = text[6:]; isHigh(escape) && bytes.HasPrefix(text, []byte(`\u`)) && isLow(text) {
			text = text[6:]
			continue
		}
		if isHigh(escape) || isLow(escape) {
			return "half a character (" + string(escape) + ")"
		}
	}
}

// isHigh and isLow report whether an escape is the first or second half of a pair.
func isHigh(escape []byte) bool { return isHalf(escape, "89abAB") }
func isLow(escape []byte) bool  { return isHalf(escape, "cdefCDEF") }

func isHalf(escape []byte, digits string) bool {
	return escape[2]|0x20 == 'd' && strings.IndexByte(digits, escape[3]) >= 0
}
