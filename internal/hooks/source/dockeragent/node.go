package dockeragent

import (
	"strconv"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// lookup returns the value of a key outside hooks:, nil if there is none. The
// rest of the mapping is not looked at.
func (r *reader) lookup(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	for _, p := range yamlnode.Pairs(yamlnode.Resolve(n)) {
		if p.Name != key {
			continue
		}
		if found != nil {
			r.errorf(p.Key, "key %q is given twice", key)
		}
		found = p.Value
	}
	return found
}

// pairs returns the pairs of a mapping in file order; a key that is given
// twice is a problem.
func (r *reader) pairs(n *yaml.Node, at string) []yamlnode.Pair {
	all := yamlnode.Pairs(n)
	first := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		if before := first[p.Name]; before != nil {
			r.errorf(p.Key, "%s: key %q is given twice, first in line %d", at, p.Name, before.Line)
			continue
		}
		first[p.Name] = p.Key
	}
	return all
}

// text reads a scalar as it is written; numbers are text where text is due.
func (r *reader) text(p yamlnode.Pair, at string) string {
	if p.Value.Kind != yaml.ScalarNode {
		r.errorf(p.Value, "%s: %s must be a string", at, p.Name)
		return ""
	}
	if yamlnode.IsNull(p.Value) {
		return ""
	}
	return p.Value.Value
}

func (r *reader) boolean(p yamlnode.Pair, at string) bool {
	var b bool
	if p.Value.Kind != yaml.ScalarNode || p.Value.Decode(&b) != nil {
		r.errorf(p.Value, "%s: %s must be true or false", at, p.Name)
	}
	return b
}

// maxTimeout is a day: beyond it a number is a mistake, or nanoseconds.
const maxTimeout = 24 * 60 * 60

func (r *reader) seconds(p yamlnode.Pair, at string) int {
	if yamlnode.IsNull(p.Value) {
		return 0
	}
	var n int
	switch err := p.Value.Decode(&n); {
	case p.Value.Kind != yaml.ScalarNode || p.Value.Tag != "!!int" || err != nil:
		r.errorf(p.Value, "%s: %s must be a whole number of seconds", at, p.Name)
	case n < 0:
		r.errorf(p.Value, "%s: %s must not be negative", at, p.Name)
	case n > maxTimeout:
		r.errorf(p.Value, "%s: %s must not be over %d seconds", at, p.Name, maxTimeout)
	}
	return n
}

func (r *reader) texts(p yamlnode.Pair, at string) []string {
	if yamlnode.IsNull(p.Value) {
		return nil
	}
	if p.Value.Kind != yaml.SequenceNode {
		r.errorf(p.Value, "%s: %s must be a list of strings", at, p.Name)
		return nil
	}
	var list []string
	for i, n := range yamlnode.Items(p.Value) {
		list = append(list, r.text(yamlnode.Pair{Name: p.Name + "[" + strconv.Itoa(i) + "]", Value: n}, at))
	}
	return list
}

func (r *reader) textMap(p yamlnode.Pair, at string) []pairText {
	if yamlnode.IsNull(p.Value) {
		return nil
	}
	if p.Value.Kind != yaml.MappingNode {
		r.errorf(p.Value, "%s: %s must be a mapping of strings", at, p.Name)
		return nil
	}
	var list []pairText
	for _, e := range r.pairs(p.Value, at+"."+p.Name) {
		value := r.text(yamlnode.Pair{Name: p.Name + "." + e.Name, Value: e.Value}, at)
		list = append(list, pairText{e.Name, value})
	}
	return list
}

type pairText struct{ name, value string }

// unknown reports a key that does not belong where it stands, and the
// similar known keys.
func (r *reader) unknown(p yamlnode.Pair, at string, known []string, hint string) {
	if near := spell.Near(p.Name, known); near != "" {
		hint = "did you mean " + strconv.Quote(near) + "?"
	}
	r.problem(p.Key, hook.Problem{Message: at + ": unknown key " + strconv.Quote(p.Name), Hint: hint})
}
