package dockeragent

import (
	"strconv"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/spell"
	"gopkg.in/yaml.v3"
)

// pair is one key of a mapping with its value, aliases followed.
type pair struct {
	name       string
	key, value *yaml.Node
}

// resolve follows aliases; one that leads to itself ends somewhere in it.
func resolve(n *yaml.Node) *yaml.Node {
	for range 32 {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// lookup returns the value of a key outside hooks:, nil if there is none. The
// rest of the mapping is not looked at.
func (r *reader) lookup(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	for _, p := range flatten(resolve(n), 0) {
		if p.name != key {
			continue
		}
		if found != nil {
			r.errorf(p.key, "key %q is given twice", key)
		}
		found = p.value
	}
	return found
}

// pairs returns the pairs of a mapping in file order; a key that is given
// twice is a problem.
func (r *reader) pairs(n *yaml.Node, at string) []pair {
	all := flatten(n, 0)
	first := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		if before := first[p.name]; before != nil {
			r.errorf(p.key, "%s: key %q is given twice, first in line %d", at, p.name, before.Line)
			continue
		}
		first[p.name] = p.key
	}
	return all
}

// flatten lists a mapping's pairs with what merge keys (<<) bring in; a key
// of the mapping itself wins over a merged one. Merges in merges stop at the
// third: aliases of aliases multiply.
func flatten(n *yaml.Node, depth int) []pair {
	if n.Kind != yaml.MappingNode || depth > 3 {
		return nil
	}
	var own, merged []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolve(n.Content[i+1])
		if key.Tag != "!!merge" {
			own = append(own, pair{resolve(key).Value, key, value})
			continue
		}
		for _, from := range items(value) {
			merged = append(merged, flatten(from, depth+1)...)
		}
	}
	return withMerged(own, merged)
}

func withMerged(own, merged []pair) []pair {
	if len(merged) == 0 {
		return own
	}
	has := make(map[string]bool, len(own))
	for _, p := range own {
		has[p.name] = true
	}
	for _, p := range merged {
		if !has[p.name] {
			has[p.name] = true
			own = append(own, p)
		}
	}
	return own
}

// items returns the elements of a list; a single value stands for a list of
// one, and null for an empty one.
func items(n *yaml.Node) []*yaml.Node {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	list := make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		list[i] = resolve(c)
	}
	return list
}

// text reads a scalar as it is written; numbers are text where text is due.
func (r *reader) text(p pair, at string) string {
	if p.value.Kind != yaml.ScalarNode {
		r.errorf(p.value, "%s: %s must be a string", at, p.name)
		return ""
	}
	if isNull(p.value) {
		return ""
	}
	return p.value.Value
}

func (r *reader) boolean(p pair, at string) bool {
	var b bool
	if p.value.Kind != yaml.ScalarNode || p.value.Decode(&b) != nil {
		r.errorf(p.value, "%s: %s must be true or false", at, p.name)
	}
	return b
}

// maxTimeout is a day: beyond it a number is a mistake, or nanoseconds.
const maxTimeout = 24 * 60 * 60

func (r *reader) seconds(p pair, at string) int {
	if isNull(p.value) {
		return 0
	}
	var n int
	switch err := p.value.Decode(&n); {
	case p.value.Kind != yaml.ScalarNode || p.value.Tag != "!!int" || err != nil:
		r.errorf(p.value, "%s: %s must be a whole number of seconds", at, p.name)
	case n < 0:
		r.errorf(p.value, "%s: %s must not be negative", at, p.name)
	case n > maxTimeout:
		r.errorf(p.value, "%s: %s must not be over %d seconds", at, p.name, maxTimeout)
	}
	return n
}

func (r *reader) texts(p pair, at string) []string {
	if isNull(p.value) {
		return nil
	}
	if p.value.Kind != yaml.SequenceNode {
		r.errorf(p.value, "%s: %s must be a list of strings", at, p.name)
		return nil
	}
	var list []string
	for i, n := range items(p.value) {
		list = append(list, r.text(pair{name: p.name + "[" + strconv.Itoa(i) + "]", value: n}, at))
	}
	return list
}

func (r *reader) textMap(p pair, at string) []pairText {
	if isNull(p.value) {
		return nil
	}
	if p.value.Kind != yaml.MappingNode {
		r.errorf(p.value, "%s: %s must be a mapping of strings", at, p.name)
		return nil
	}
	var list []pairText
	for _, e := range r.pairs(p.value, at+"."+p.name) {
		value := r.text(pair{name: p.name + "." + e.name, value: e.value}, at)
		list = append(list, pairText{e.name, value})
	}
	return list
}

type pairText struct{ name, value string }

// unknown reports a key that does not belong where it stands, and what is
// near it.
func (r *reader) unknown(p pair, at string, known []string, hint string) {
	if near := spell.Near(p.name, known); near != "" {
		hint = "did you mean " + strconv.Quote(near) + "?"
	}
	r.problem(p.key, hook.Problem{Message: at + ": unknown key " + strconv.Quote(p.name), Hint: hint})
}
