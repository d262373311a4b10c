package builtin

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/builtin/secrets"
)

// maxNamed is the longest value that is read together with its key.
const maxNamed = 4096

// redactJSON redacts every string value in valid JSON and reports whether any
// changed; all other bytes stay as they are. name is the key that the value
// itself has; what stands in a list has the list's. Values of the keys in skip
// are left alone, but not within a tool call's arguments, where a key means
// nothing. One pass, however deep the value is nested.
func redactJSON(value json.RawMessage, name string, skip map[string]bool) (json.RawMessage, bool) {
	var out []byte
	var outer []place
	copied, here := 0, place{key: name}
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			outer = append(outer, here)
			here.arguments = here.arguments || here.key == "input" || here.key == "arguments" || here.key == "args"
		case '}', ']':
			here, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case '"':
			end := i + stringLength(value[i:])
			if isKey(value[end:]) {
				here.key = unquoted(value[i:end])
			} else if here.arguments || !skip[here.key] {
				if redacted, ok := redactString(value[i:end], here.key); ok {
					out = append(append(out, value[copied:i]...), redacted...)
					copied = end
				}
			}
			i = end - 1
		}
	}
	if copied == 0 {
		return value, false
	}
	return append(out, value[copied:]...), true
}

// place is where in a JSON value a string stands.
type place struct {
	key       string
	arguments bool // within those of a tool call
}

// redactString redacts one JSON string. Its key is read with it, since it may
// be what gives a secret away: {"AWS_SECRET_ACCESS_KEY": "…"}.
func redactString(text json.RawMessage, key string) (json.RawMessage, bool) {
	s := unquoted(text)
	redacted := secrets.Redact(s)
	if prefix := key + "="; redacted == s && key != "" && len(s) <= maxNamed {
		if rest, ok := strings.CutPrefix(secrets.Redact(prefix+s), prefix); ok {
			redacted = rest
		}
	}
	if redacted == s {
		return nil, false
	}
	quotedText, err := quoted(redacted)
	return quotedText, err == nil
}

// unquoted returns the text of a JSON string.
func unquoted(text json.RawMessage) (s string) {
	_ = json.Unmarshal(text, &s) // valid, as all of the payload is
	return s
}

// isKey reports whether rest, which follows a string, makes it a key.
func isKey(rest json.RawMessage) bool {
	for _, b := range rest {
		if !isBlank(b) {
			return b == ':'
		}
	}
	return false
}

// stringLength returns the length of the JSON string that text begins with,
// quotes and all.
func stringLength(text json.RawMessage) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
