package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// Member is one name and value of a JSON object.
type Member struct {
	Key   string
	Value json.RawMessage // valid JSON; nil is null
}

// Members yields the top-level members of obj in order. obj must be valid
// JSON; anything but an object has no members. Keys are unescaped, values are
// parts of obj. A key that stands twice is yielded twice: the last one counts.
func Members(obj json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		s := Scan(obj)
		for s.Next() {
			if !yield(s.Key(), s.Value()) {
				return
			}
		}
	}
}

// Field is one name and value of a JSON object, both parts of that object.
type Field struct {
	Key   []byte // without quotes and escapes: of its own where it had some
	Value json.RawMessage
}

// AppendFields appends to dst the top-level members of obj in order, as Members
// yields them.
func AppendFields(dst []Field, obj json.RawMessage) []Field {
	for s := Scan(obj); s.Next(); {
		key := s.key
		if s.escaped {
			key = []byte(Unescape(key))
		}
		dst = append(dst, Field{key, s.Value()})
	}
	return dst
}

// Get returns the value of obj's top-level member key, or nil if it has none.
// obj must be valid JSON. Of several the last counts, as in encoding/json.
func Get(obj json.RawMessage, key string) json.RawMessage {
	var found json.RawMessage
	s := Scan(obj)
	for s.Next() {
		if s.Is(key) {
			found = s.Value()
		}
	}
	return found
}

// GetString returns the text of obj's top-level member key, and whether obj has such a
// member that is a string.
func GetString(obj json.RawMessage, key string) (string, bool) {
	return Text(Get(obj, key))
}

// StringIn returns the text of obj's top-level member key; "" if obj has no such member that is a string.
func StringIn(obj json.RawMessage, key string) string {
	text, _ := GetString(obj, key)
	return text
}

// With returns obj with the given members set: in place where it has them, appended in
// the order given where it does not. All other bytes stay as they are, but a set key
// that stood several times stands once. obj must be a valid JSON object; nil, and a
// value that is no object, is {}. obj itself is not changed.
func With(obj json.RawMessage, members ...Member) json.RawMessage {
	var parts [16][]byte // on the stack, as most calls set a few members
	var names [128]byte
	return bytes.Join(appendParts(parts[:0], names[:0], obj, members), nil)
}

// Parts is With without a copy of obj: the returned slices, one behind the other, are
// parts of obj and the bytes between them.
func Parts(obj json.RawMessage, members ...Member) [][]byte {
	return appendParts(make([][]byte, 0, 4+2*len(members)), nil, obj, members)
}

// appendParts is Parts onto dst; new bytes go behind names.
func appendParts(dst [][]byte, names []byte, obj json.RawMessage, members []Member) [][]byte {
	if Scan(obj).first == 0 {
		obj = json.RawMessage("{}")
	}
	var few [8]bool
	placed := few[:]
	if len(members) > len(few) {
		placed = make([]bool, len(members))
	}
	s, copied := Scan(obj), 0
	empty, end := true, s.first // of the member before
	for ; s.Next(); empty, end = false, s.end {
		switch i := lastIndex(members, s); {
		case i < 0:
			continue
		case placed[i]: // a repetition goes, with the comma before it
			dst = append(dst, obj[copied:end])
		default:
			dst = append(dst, obj[copied:s.start], value(members[i]))
			placed[i] = true
		}
		copied = s.end
	}
	dst = append(dst, obj[copied:end])
	for i, m := range members {
		if placed[i] || overridden(members, i) {
			continue
		}
		from := len(names)
		if !empty {
			names = append(names, ',')
		}
		names, empty = append(AppendString(names, m.Key), ':'), false
		dst = append(dst, names[from:], value(m))
	}
	return append(dst, obj[end:])
}

// lastIndex finds the member that sets the key under the Scanner, or -1.
func lastIndex(members []Member, s *Scanner) int {
	for i := len(members) - 1; i >= 0; i-- {
		if s.Is(members[i].Key) {
			return i
		}
	}
	return -1
}

// overridden reports whether a later member sets the same key.
func overridden(members []Member, i int) bool {
	for _, m := range members[i+1:] {
		if m.Key == members[i].Key {
			return true
		}
	}
	return false
}

func value(m Member) []byte {
	if m.Value == nil {
		return []byte("null")
	}
	return m.Value
}

// StringMember returns the member key with the text s.
func StringMember(key, s string) Member { return Member{key, Quote(s)} }

// Ambiguous reports whether two members of an object have the same name except for the letter case: which of
// them counts depends on how a program reads JSON.
func Ambiguous(object json.RawMessage) bool {
	seen := map[string]bool{}
	for key := range Members(object) {
		if key = strings.ToLower(key); seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}
