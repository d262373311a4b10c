package events

import (
	"encoding/json"
	"iter"
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
		s := scan(obj)
		for s.next() {
			if !yield(unescape(s.key), s.value()) {
				return
			}
		}
	}
}

// Get returns the value of obj's top-level member key, or nil if it has none.
// obj must be valid JSON. Of several the last counts, as in encoding/json.
func Get(obj json.RawMessage, key string) json.RawMessage {
	var found json.RawMessage
	s := scan(obj)
	for s.next() {
		if s.is(key) {
			found = s.value()
		}
	}
	return found
}

// GetString returns the text of obj's top-level member key, and whether it has
// one that is a string.
func GetString(obj json.RawMessage, key string) (string, bool) {
	return text(Get(obj, key))
}

// With returns obj with the given members set: in place where it has them,
// appended in the order given where it does not. All other bytes stay as they
// are, but a set key that stood several times stands once. obj must be a valid
// JSON object; nil, and what is no object, is {}. obj itself is not changed.
func With(obj json.RawMessage, members ...Member) json.RawMessage {
	if scan(obj).first == 0 {
		obj = json.RawMessage("{}")
	}
	size := len(obj)
	for _, m := range members {
		size += len(m.Key) + len(m.Value) + len(`,"":null`)
	}
	placed := make([]bool, len(members))
	out, rest := replace(make([]byte, 0, size), obj, members, placed)
	empty := out[len(out)-1] == '{'
	for i, m := range members {
		if placed[i] || overridden(members, i) {
			continue
		}
		if !empty {
			out = append(out, ',')
		}
		out = append(AppendString(out, m.Key), ':')
		out = appendValue(out, m.Value)
		empty = false
	}
	return append(out, rest...)
}

// replace appends obj to out up to the end of its last member, with the
// members that obj has set and marked as placed. rest is what follows.
func replace(out, obj []byte, members []Member, placed []bool) (_, rest []byte) {
	s, copied := scan(obj), 0
	end := s.first // of the member before
	for ; s.next(); end = s.end {
		switch i := lastIndex(members, s); {
		case i < 0:
			continue
		case placed[i]: // a repetition goes, with the comma before it
			out = append(out, obj[copied:end]...)
		default:
			out = append(out, obj[copied:s.start]...)
			out = appendValue(out, members[i].Value)
			placed[i] = true
		}
		copied = s.end
	}
	return append(out, obj[copied:end]...), obj[end:]
}

// lastIndex finds the member that sets the key under the scanner, or -1.
func lastIndex(members []Member, s *scanner) int {
	for i := len(members) - 1; i >= 0; i-- {
		if s.is(members[i].Key) {
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

func appendValue(out []byte, v json.RawMessage) []byte {
	if v == nil {
		return append(out, "null"...)
	}
	return append(out, v...)
}

// StringMember returns the member key with the text s.
func StringMember(key, s string) Member { return Member{key, Quote(s)} }
