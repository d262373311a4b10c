package connect

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

func (f jsonFormat) remove(text []byte, a *agent, ours func(call) bool, keep func([]string) bool) ([]byte, error) {
	root, err := f.root(text)
	if err != nil {
		return nil, err
	}
	r := &jsonCut{agent: a, ours: ours, keep: keep, text: text}
	r.object(&root, a.At, nil)
	return r.apply(text), nil
}

// jsonCut cuts calls of the bridge out of a text.
type jsonCut struct {
	edits
	agent *agent
	ours  func(call) bool
	keep  func(path []string) bool
	text  []byte
}

// object cuts out of the objects that rest leads to from v, which path led to,
// and reports whether v is empty now because of that.
func (r *jsonCut) object(v *hujson.Value, rest, path []string) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	gone := make([]bool, len(o.Members))
	for i := range o.Members {
		m := &o.Members[i]
		here := append(slices.Clone(path), nameOf(m.Name))
		empty := false
		switch {
		case len(rest) == 0:
			empty = r.list(&m.Value)
		case rest[0] == "*" || rest[0] == nameOf(m.Name):
			empty = r.object(&m.Value, rest[1:], here)
		}
		gone[i] = empty && !r.keep(here)
	}
	for i := range o.Members {
		gone[i] = gone[i] || r.isBeside(&o.Members[i], path)
	}
	r.cutOut(spansOf(o), gone)
	return len(gone) > 0 && !slices.Contains(gone, false)
}

// isBeside reports whether connect put a member of the object at path
// beside the hooks.
func (r *jsonCut) isBeside(m *hujson.ObjectMember, path []string) bool {
	return slices.ContainsFunc(r.agent.beside, func(l leaf) bool {
		v, _ := m.Value.Value.(hujson.Literal)
		same := slices.Equal(l.path, path) && l.key == nameOf(m.Name) && string(v) == fmt.Sprint(l.value)
		return same && !r.keep(append(slices.Clone(path), l.key))
	})
}

// list cuts out of the hooks of an event, and reports whether none is left
// because of that.
func (r *jsonCut) list(v *hujson.Value) bool {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return false
	}
	gone := make([]bool, len(a.Elements))
	for i := range a.Elements {
		o, ok := a.Elements[i].Value.(*hujson.Object)
		if !ok {
			continue
		}
		hooks := memberOf(o, "hooks")
		gone[i] = r.isOurs(o) || hooks != nil && r.list(&hooks.Value)
	}
	r.cutOut(elementsOf(a), gone)
	return len(gone) > 0 && !slices.Contains(gone, false)
}

func (r *jsonCut) isOurs(o *hujson.Object) bool {
	if m := memberOf(o, "url"); m != nil && m.Value.Value.Kind() == '"' && r.agent.Posts != nil {
		c, ok := postOf(nameOf(m.Value), "", string(r.agent.name))
		return ok && r.ours(c)
	}
	m := memberOf(o, r.agent.Keys.Command)
	if m == nil || m.Value.Value.Kind() != '"' {
		return false
	}
	c, ok := callOf(nameOf(m.Value), string(r.agent.name))
	return ok && r.ours(c)
}

// span is where a member or an element stands; comma is where the one behind
// it is, -1 = there is none.
type span struct{ start, end, comma int }

func spansOf(o *hujson.Object) (spans []span) {
	for i := range o.Members {
		m := &o.Members[i]
		spans = append(spans, spanOf(m.Name.StartOffset, &m.Value, i == len(o.Members)-1))
	}
	return spans
}

func elementsOf(a *hujson.Array) (spans []span) {
	for i := range a.Elements {
		spans = append(spans, spanOf(a.Elements[i].StartOffset, &a.Elements[i], i == len(a.Elements)-1))
	}
	return spans
}

func spanOf(start int, v *hujson.Value, last bool) span {
	s := span{start, v.EndOffset, v.EndOffset + len(v.AfterExtra)}
	if last && v.AfterExtra == nil {
		s.comma = -1
	}
	return s
}

// cutOut cuts out the members that are gone, with the white space before them and the commas
// that nothing needs any more. Comments stay.
func (r *jsonCut) cutOut(spans []span, gone []bool) {
	for i, s := range spans {
		if !gone[i] {
			continue
		}
		before := bytes.TrimRight(r.text[:s.start], " \t\r\n")
		r.cut(len(before), s.end)
		switch {
		case s.comma >= 0:
			r.cut(s.comma, s.comma+1)
		default: // the last one: the comma before it goes
			for j := i - 1; j >= 0; j-- {
				if !gone[j] {
					r.cut(spans[j].comma, spans[j].comma+1)
					break
				}
			}
		}
	}
}

// cuts are the edits that take leaves out, and the objects and lists that hold
// nothing afterwards unless keep names them.
func (f jsonFormat) cuts(text []byte, leaves []leaf, keep func(path []string) bool) (edits, error) {
	root, err := f.root(text)
	if err != nil {
		return nil, err
	}
	r := &jsonCut{keep: keep, text: text}
	r.leaves(&root, leaves, nil)
	return r.edits, nil
}

// leaves cuts out of the object v, which path led to, and reports whether it is
// empty now because of that.
func (r *jsonCut) leaves(v *hujson.Value, leaves []leaf, path []string) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	gone := make([]bool, len(o.Members))
	for i := range o.Members {
		m := &o.Members[i]
		below, own := under(leaves, nameOf(m.Name))
		here := append(slices.Clone(path), nameOf(m.Name))
		switch {
		case len(below) > 0:
			gone[i] = r.leaves(&m.Value, below, here) && !r.keep(here)
		case own.list:
			gone[i] = r.item(&m.Value, own.value) && !r.keep(here)
		default:
			gone[i] = own.key != "" && says(&m.Value, own.value)
		}
	}
	r.cutOut(spansOf(o), gone)
	return slices.Contains(gone, true) && !slices.Contains(gone, false)
}

// item cuts an item out of a list, and reports whether it is empty now because
// of that.
func (r *jsonCut) item(v *hujson.Value, item any) bool {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return false
	}
	gone := make([]bool, len(a.Elements))
	for i := range a.Elements {
		gone[i] = says(&a.Elements[i], item)
	}
	r.cutOut(elementsOf(a), gone)
	return slices.Contains(gone, true) && !slices.Contains(gone, false)
}

// says reports whether a literal is the literal that connect writes for want.
func says(v *hujson.Value, want any) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && string(l) == oneLine(want)
}
