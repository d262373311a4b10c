package neutral

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Read returns the facts in the payload data of an event called name.
func (t *Table) Read(name string, data json.RawMessage) Facts {
	f := t.read(name, data, func(Fact) bool { return true })
	t.canonize(f)
	return f
}

// Fact returns one fact, which is no part of a tool call; nil = the payload has none.
func (t *Table) Fact(name string, data json.RawMessage, fact Fact) json.RawMessage {
	return t.read(name, data, func(f Fact) bool { return f == fact })[fact]
}

// ofCall reports whether a fact is a part of a tool call.
func ofCall(f Fact) bool {
	return f == Tool || f == Input || f == MCPServer || f == MCPTool || strings.HasPrefix(string(f), argPrefix)
}

// read is Read with the tool and its arguments as the payload calls them, of the facts
// that are wanted.
func (t *Table) read(name string, data json.RawMessage, wanted func(Fact) bool) Facts {
	f := Facts{}
	var few [fewMembers]rawjson.Field
	var p payload
	for i := range t.Rows {
		r := &t.Rows[i]
		if !wanted(r.Fact) || f[r.Fact] != nil || !holds(r.Events, name) {
			continue
		}
		if p.members == nil { // of many events no row tells the fact that is wanted
			p = newPayload(few[:0], data)
		}
		if v := r.read(p.find(r.Field)); v != nil {
			f[r.Fact] = v
		}
	}
	for _, x := range t.Fixed {
		if wanted(x.Fact) && f[x.Fact] == nil && holds(x.Events, name) {
			f[x.Fact] = json.RawMessage(x.Value)
		}
	}
	f.gather()
	return f
}

// gather makes the arguments that stood in fields of their own one object. An
// event that has such fields has its arguments nowhere else.
func (f Facts) gather() {
	var args []rawjson.Member
	for _, name := range []string{"command", "file_path", "content", "edits"} {
		if v := f[arg(name)]; v != nil {
			args = append(args, rawjson.Member{Key: name, Value: v})
			delete(f, arg(name))
		}
	}
	if len(args) > 0 {
		f[Input] = rawjson.With(nil, args...)
	}
}

// payload is an object whose members are looked up more than once. Most payloads have few
// members: to go through them takes half as long as to make a map of them.
type payload struct {
	members []rawjson.Field
	byName  map[string]json.RawMessage // where they are many; else nil
	inner   map[string]*payload
}

const fewMembers = 12

// newPayload returns the payload data, with its members in few if they are no more.
func newPayload(few []rawjson.Field, data json.RawMessage) payload {
	p := payload{members: rawjson.AppendFields(few, data)}
	if len(p.members) > fewMembers {
		p.byName = make(map[string]json.RawMessage, len(p.members))
		for _, m := range p.members {
			p.byName[string(m.Key)] = m.Value
		}
	}
	return p
}

// member returns the value of a member; nil when it is absent. Of several the last counts.
func (p *payload) member(key string) json.RawMessage {
	if p.byName != nil {
		return p.byName[key]
	}
	for i := len(p.members) - 1; i >= 0; i-- {
		if string(p.members[i].Key) == key {
			return p.members[i].Value
		}
	}
	return nil
}

// find returns the value at path; nil when it is absent or null.
func (p *payload) find(path string) json.RawMessage {
	key, rest, nested := strings.Cut(path, ".")
	if !nested {
		return known(p.member(path))
	}
	v := p.member(key)
	if v == nil {
		return nil
	}
	if i, err := strconv.Atoi(rest); err == nil {
		return known(element(v, i))
	}
	if p.inner == nil {
		p.inner = map[string]*payload{}
	}
	if p.inner[key] == nil {
		inner := newPayload(nil, v)
		p.inner[key] = &inner
	}
	return p.inner[key].find(rest)
}

func known(v json.RawMessage) json.RawMessage {
	if string(v) == "null" {
		return nil
	}
	return v
}

func element(list json.RawMessage, i int) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil || i >= len(all) {
		return nil
	}
	return all[i]
}

func (r *FieldFact) read(v json.RawMessage) json.RawMessage {
	if word := translated(TextOf(v), r.Words, false); word != "" {
		return rawjson.Quote(word)
	}
	return r.Form.read(v)
}

func (r *FieldFact) write(v json.RawMessage) json.RawMessage {
	if r.Words == "" {
		return r.Form.write(v)
	}
	if word := translated(TextOf(v), r.Words, true); word != "" {
		return rawjson.Quote(word)
	}
	return nil
}

// translated looks a word up in pairs of own=canonical; "" if it is not there.
func translated(word, pairs string, reverse bool) string {
	for _, pair := range strings.Fields(pairs) {
		from, to, _ := strings.Cut(pair, "=")
		if reverse {
			from, to = to, from
		}
		if from == word {
			return to
		}
	}
	return ""
}

func (f Form) read(v json.RawMessage) json.RawMessage {
	switch {
	case v == nil:
		return nil
	case f == JSON:
		if text := TextOf(v); json.Valid([]byte(text)) {
			return known(json.RawMessage(text))
		}
	case f == Not:
		return negated(v)
	case f == NotZero:
		return json.RawMessage(strconv.FormatBool(string(v) != "0"))
	case f == Texts:
		return unpacked(v)
	case f == Parts:
		if text := joined(v); text != "" {
			return rawjson.Quote(text)
		}
	}
	return v
}

func (f Form) write(v json.RawMessage) json.RawMessage {
	switch f {
	case JSON:
		return rawjson.Quote(compact(v))
	case Flat:
		return rawjson.Quote(ResultText(v))
	case Preview:
		return rawjson.Quote(first120(flatten(v)))
	case Not:
		return negated(v)
	case NotZero:
		return nil
	}
	return v
}

// unpacked returns an object with the lists and objects that stand in it as text.
func unpacked(v json.RawMessage) json.RawMessage {
	var members []rawjson.Member
	for key, value := range rawjson.Members(v) {
		if text := TextOf(value); json.Valid([]byte(text)) && (text[0] == '[' || text[0] == '{') {
			members = append(members, rawjson.Member{Key: key, Value: json.RawMessage(text)})
		}
	}
	if members == nil {
		return v
	}
	return rawjson.With(v, members...)
}

func negated(v json.RawMessage) json.RawMessage {
	switch string(v) {
	case "true":
		return json.RawMessage("false")
	case "false":
		return json.RawMessage("true")
	}
	return nil
}

// joined returns the texts of a list of parts; "" if v is none.
func joined(v json.RawMessage) string {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(v, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// TextOf returns the string that v is; "" if it is none.
func TextOf(v json.RawMessage) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	inner := v[1 : len(v)-1]
	odd := func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError }
	if v[len(v)-1] == '"' && bytes.IndexFunc(inner, odd) < 0 {
		return string(inner) // which is nearly every text, and needs no decoder
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// flatten returns the string that v is, or its compact JSON.
func flatten(v json.RawMessage) string {
	if len(v) > 0 && v[0] == '"' {
		return TextOf(v)
	}
	return compact(v)
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// previewLength is LibreFang's: the first 120 characters.
const previewLength = 120

func first120(s string) string {
	n := 0
	for i := range s {
		if n == previewLength {
			return s[:i]
		}
		n++
	}
	return s
}
