package rawjson

import "encoding/json"

// Without returns the members of obj other than key, as they are except for the
// blanks between them; nil when there are none. obj must be valid JSON and is
// not changed.
func Without(obj json.RawMessage, key string) json.RawMessage {
	var out []byte
	s := Scan(obj)
	for s.Next() {
		if s.Is(key) {
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(obj)), '{')
		} else {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), s.key...), '"', ':')
		out = append(out, s.Value()...)
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}
