package neutral

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Write returns the fields that row documents, as far as the facts fill them,
// in the order of t. A field that holds several facts is one object.
func (t *Table) Write(row *events.Contract, facts Facts) []rawjson.Member {
	facts = t.own(facts)
	var out []rawjson.Member
	done := map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		v := facts.value(r.Fact)
		if v == nil || done[r.Field] || !holds(r.Events, row.Name) || !documents(row, r.Field) {
			continue
		}
		if v = r.write(v); v != nil {
			done[r.Field] = true
			out = place(out, r.Field, v)
		}
	}
	return out
}

// value returns a fact; of the input also one argument.
func (f Facts) value(fact Fact) json.RawMessage {
	if name, ok := strings.CutPrefix(string(fact), string(Input)+"."); ok {
		return known(rawjson.Get(f[Input], name))
	}
	return f[fact]
}

func documents(row *events.Contract, path string) bool {
	field, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(row.Fields, func(f events.Field) bool { return f.Name == field })
}

// place sets the value at path.
func place(members []rawjson.Member, path string, v json.RawMessage) []rawjson.Member {
	key, rest, nested := strings.Cut(path, ".")
	at := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Key == key })
	switch {
	case !nested:
	case rest == "0":
		v = slices.Concat(json.RawMessage("["), v, json.RawMessage("]"))
	default:
		var inner json.RawMessage
		if at >= 0 {
			inner = members[at].Value
		}
		v = rawjson.With(inner, place(nil, rest, v)...)
	}
	if at < 0 {
		return append(members, rawjson.Member{Key: key, Value: v})
	}
	if nested && rest != "0" {
		members[at].Value = v
	}
	return members
}
