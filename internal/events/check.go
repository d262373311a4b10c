package events

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Check returns a warning for each documented field of data that has another
// JSON type than c documents. Fields that are absent or
// undocumented are fine. data must be valid JSON.
func (c *Contract) Check(data json.RawMessage) []string {
	if len(c.Fields) == 0 {
		return nil
	}
	var few [32]json.RawMessage // on the stack, as most rows have less
	values := few[:]            // of several equal keys the last counts
	if len(c.Fields) > len(few) {
		values = make([]json.RawMessage, len(c.Fields))
	}
	s := rawjson.Scan(data)
	for s.Next() {
		for i := range c.Fields {
			if s.Is(c.Fields[i].Name) {
				values[i] = s.Value()
				break
			}
		}
	}
	var warnings []string
	for i := range c.Fields {
		if f, raw := &c.Fields[i], values[i]; raw != nil && !f.takes(raw) {
			warnings = append(warnings, fmt.Sprintf("field `%s` is %s, %s documents %s", f.Name, describe(raw), c.Name, f.documented()))
		}
	}
	return warnings
}

func (f *Field) takes(raw json.RawMessage) bool {
	t := typeOf(raw)
	switch {
	case t == "null":
		return f.Nullable
	case f.Type == Any:
		return true
	case f.Type == Integer:
		return t == Number && isInteger(raw)
	}
	return t == f.Type
}

func (f *Field) documented() string {
	if f.Nullable {
		return withArticle(f.Type) + " or null"
	}
	return withArticle(f.Type)
}

// typeOf returns the JSON type of a valid value; "null" for null.
func typeOf(raw json.RawMessage) Type {
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Boolean
	case 'n':
		return "null"
	}
	return Number
}

// describe names the type of raw, with its article.
func describe(raw json.RawMessage) string {
	t := typeOf(raw)
	if t == Number && !isInteger(raw) {
		return "a number with a fraction"
	}
	return withArticle(t)
}

func withArticle(t Type) string {
	switch t {
	case "null":
		return "null"
	case Any:
		return "any value"
	case Integer, Object, Array:
		return "an " + string(t)
	}
	return "a " + string(t)
}

// isInteger reports whether a JSON number has no fraction: 3, 3.0 and 3e2 have
// none.
func isInteger(raw json.RawMessage) bool {
	for _, c := range raw {
		if c == '.' || c == 'e' || c == 'E' {
			n, err := strconv.ParseFloat(string(raw), 64)
			return err == nil && n == math.Trunc(n)
		}
	}
	return true
}
