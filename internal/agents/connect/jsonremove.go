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

// members cuts the members that go out of the object v, which path led to, and reports whether it is empty now
// because of that.
func (r *jsonCut) members(v *hujson.Value, path []string, goes func(m *hujson.ObjectMember, here []string) bool) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	gone := make([]bool, len(o.Members))
	var spans []span
	for i := range o.Members {
		m := &o.Members[i]
		gone[i] = goes(m, append(slices.Clone(path), nameOf(m.Name)))
		spans = append(spans, spanOf(m.Name.StartOffset, &m.Value, i == len(o.Members)-1))
	}
	return r.cutOut(spans, gone)
}

// elements cuts the elements that go out of the list v, and reports whether it is empty now because of that.
func (r *jsonCut) elements(v *hujson.Value, goes func(*hujson.Value) bool) bool {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return false
	}
	gone := make([]bool, len(a.Elements))
	var spans []span
	for i := range a.Elements {
		gone[i] = goes(&a.Elements[i])
		spans = append(spans, spanOf(a.Elements[i].StartOffset, &a.Elements[i], i == len(a.Elements)-1))
	}
	return r.cutOut(spans, gone)
}

// object cuts calls of the bridge out of the objects that rest leads to from v, as members does.
func (r *jsonCut) object(v *hujson.Value, rest, path []string) bool {
	return r.members(v, path, func(m *hujson.ObjectMember, here []string) bool {
		empty := false
		switch {
		case len(rest) == 0:
			empty = r.list(&m.Value)
		case rest[0] == "*" || rest[0] == nameOf(m.Name):
			empty = r.object(&m.Value, rest[1:], here)
		}
		return empty && !r.keep(here) || r.isBeside(m, path)
	})
}

// isBeside reports whether connect put a member of the object at path
// beside the hooks.
func (r *jsonCut) isBeside(m *hujson.ObjectMember, path []string) bool {
	return slices.ContainsFunc(r.agent.Beside, func(l leaf) bool {
		v, _ := m.Value.Value.(hujson.Literal)
		same := slices.Equal(l.Path, path) && l.Key == nameOf(m.Name) && string(v) == fmt.Sprint(l.Value)
		return same && !r.keep(append(slices.Clone(path), l.Key))
	})
}

// list cuts calls of the bridge out of the hooks of an event, as elements does.
func (r *jsonCut) list(v *hujson.Value) bool {
	return r.elements(v, func(item *hujson.Value) bool {
		o, ok := item.Value.(*hujson.Object)
		if !ok {
			return false
		}
		hooks := memberOf(o, "hooks")
		return r.isOurs(o) || hooks != nil && r.list(&hooks.Value)
	})
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

func spanOf(start int, v *hujson.Value, last bool) span {
	s := span{start, v.EndOffset, v.EndOffset + len(v.AfterExtra)}
	if last && v.AfterExtra == nil {
		s.comma = -1
	}
	return s
}

// cutOut cuts out the members that are gone, with the white space before them and the commas
// that nothing needs any more, and reports whether none is left because of that. Comments stay.
func (r *jsonCut) cutOut(spans []span, gone []bool) bool {
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
	return len(gone) > 0 && !slices.Contains(gone, false)
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

// leaves cuts leaves out of the object v, as members does.
func (r *jsonCut) leaves(v *hujson.Value, leaves []leaf, path []string) bool {
	return r.members(v, path, func(m *hujson.ObjectMember, here []string) bool {
		below, own := under(leaves, nameOf(m.Name))
		switch {
		case len(below) > 0:
			return r.leaves(&m.Value, below, here) && !r.keep(here)
		case own.List:
			is := func(item *hujson.Value) bool { return says(item, own.Value) }
			return r.elements(&m.Value, is) && !r.keep(here)
		}
		return own.Key != "" && says(&m.Value, own.Value)
	})
}

// says reports whether a literal is the literal that connect writes for want.
func says(v *hujson.Value, want any) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && string(l) == oneLine(want)
}
