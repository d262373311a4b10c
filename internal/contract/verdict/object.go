package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// member is one key of a JSON object with its value, untouched.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object with its keys in the order they were written, so
// that a rewrite leaves everything else byte for byte.
type object []member

var (
	errNotObject = errors.New("expected a JSON object")
	errTrailing  = errors.New("expected a single JSON object, found more after it")
)

// parseObject reads text as exactly one JSON object; blanks around it are fine.
// It goes over the text once: answers have megabytes.
func parseObject(text []byte) (object, error) {
	w := rawjson.Walk(text)
	w.Blanks()
	var obj object
	for w.Enter(); w.Member(); {
		obj = append(obj, member{string(w.Name()), w.Value()})
	}
	if !w.End() {
		return nil, whyNoObject(text)
	}
	return obj, nil
}

// whyNoObject says why text is no object.
func whyNoObject(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var whole json.RawMessage
	err := dec.Decode(&whole)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of JSON")
	case err != nil:
		return err
	case len(bytes.TrimSpace(text[dec.InputOffset():])) > 0 && whole[0] == '{':
		return errTrailing
	}
	return errNotObject
}

// get returns the value of key, nil if there is none. Of a key given twice
// the last counts, as encoding/json has it.
func (o object) get(key string) json.RawMessage {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// contradicts returns a key that stands twice in o, in whatever letter case,
// with different values; "" = there is none. It also looks into the objects that
// answers put their decisions in.
func (o object) contradicts() string {
	seen := make(map[string]json.RawMessage, len(o))
	for _, m := range o {
		key := strings.ToLower(m.key)
		if was, again := seen[key]; again && !bytes.Equal(was, m.value) {
			return m.key
		}
		seen[key] = m.value
		switch foldKey(m.key) {
		case "hookspecificoutput", "decision":
			if key := objectIn(m.value).contradicts(); key != "" {
				return key
			}
		}
	}
	return ""
}

// with returns a copy of o in which key has value: in its place if it was
// there, else at the end.
func (o object) with(key string, value json.RawMessage) object {
	out := make(object, 0, len(o)+1)
	placed := false
	for _, m := range o {
		if m.key == key {
			if placed {
				continue
			}
			m.value, placed = value, true
		}
		out = append(out, m)
	}
	if !placed {
		out = append(out, member{key, value})
	}
	return out
}

// bytes writes the object as JSON without blanks between its members.
func (o object) bytes() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(rawjson.Quote(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// objectIn returns the object that text holds; anything else is an empty one.
func objectIn(text []byte) object {
	obj, err := parseObject(text)
	if err != nil {
		return nil
	}
	return obj
}

// patch lays the members of change over the members of base: other members stay, nested
// objects are replaced whole, null sets null. The result is the complete object.
func patch(base, change json.RawMessage) json.RawMessage {
	if text, ok := rawjson.Text(base); ok && len(text) > 0 && text[0] == '{' { // arguments that came as JSON text
		base = json.RawMessage(text)
	}
	out := objectIn(base)
	for _, m := range objectIn(change) {
		out = out.with(m.key, m.value)
	}
	return out.bytes()
}

// valid returns text with each byte that is not UTF-8 replaced by U+FFFD.
func valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return []byte(string([]rune(string(text))))
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
