package dockeragent

import (
	"strconv"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// pairs returns the pairs of a mapping in file order; a key that is given
// twice is a problem.
func (r *reader) pairs(n *yaml.Node, at string) []yamlnode.Pair {
	all := yamlnode.Pairs(n)
	first := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		if before := first[p.Name]; before != nil {
			r.Errorf(p.Key, "%s: key %q is given twice, first in line %d", at, p.Name, before.Line)
			continue
		}
		first[p.Name] = p.Key
	}
	return all
}

func (r *reader) boolean(p yamlnode.Pair, at string) bool {
	var b bool
	if p.Value.Kind != yaml.ScalarNode || p.Value.Decode(&b) != nil {
		r.Errorf(p.Value, "%s: %s must be true or false", at, p.Name)
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
		r.Errorf(p.Value, "%s: %s must be a whole number of seconds", at, p.Name)
	case n < 0:
		r.Errorf(p.Value, "%s: %s must not be negative", at, p.Name)
	case n > maxTimeout:
		r.Errorf(p.Value, "%s: %s must not be over %d seconds", at, p.Name, maxTimeout)
	}
	return n
}

func (r *reader) texts(p yamlnode.Pair, at string) []string {
	if yamlnode.IsNull(p.Value) {
		return nil
	}
	if p.Value.Kind != yaml.SequenceNode {
		r.Errorf(p.Value, "%s: %s must be a list of strings", at, p.Name)
		return nil
	}
	var list []string
	for i, n := range yamlnode.Items(p.Value) {
		list = append(list, r.Text(yamlnode.Pair{Name: p.Name + "[" + strconv.Itoa(i) + "]", Value: n}, at))
	}
	return list
}

func (r *reader) textMap(p yamlnode.Pair, at string) []pairText {
	if yamlnode.IsNull(p.Value) {
		return nil
	}
	if p.Value.Kind != yaml.MappingNode {
		r.Errorf(p.Value, "%s: %s must be a mapping of strings", at, p.Name)
		return nil
	}
	var list []pairText
	for _, e := range r.pairs(p.Value, at+"."+p.Name) {
		value := r.Text(yamlnode.Pair{Name: p.Name + "." + e.Name, Value: e.Value}, at)
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
	r.Problem(p.Key, hook.Problem{Message: at + ": unknown key " + strconv.Quote(p.Name), Hint: hint})
}
