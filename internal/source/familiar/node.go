package familiar

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

// lookup returns the value of a key outside of hooks, nil if there is none.
// The rest of the mapping is not looked at.
func (r *reader) lookup(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	for _, p := range flatten(n, 0) {
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

// pairs returns the pairs of a mapping by name; a key that is given twice is a
// problem, and so is one that is not known: near a known one it is a slip that
// could turn a guard off, else it is somebody else's.
func (r *reader) pairs(n *yaml.Node, at string, known []string) map[string]pair {
	found := map[string]pair{}
	for _, p := range flatten(n, 0) {
		if before, twice := found[p.name]; twice {
			r.errorf(p.key, "%s: key %q is given twice, first in line %d", at, p.name, before.key.Line)
			continue
		}
		found[p.name] = p
		r.checkKey(p, at, known)
	}
	return found
}

func (r *reader) checkKey(p pair, at string, known []string) {
	for _, k := range known {
		if k == p.name {
			return
		}
	}
	unknown := hook.Problem{Message: at + ": unknown key " + strconv.Quote(p.name), Warning: true, Hint: "it is ignored"}
	if near := spell.Near(p.name, known); near != "" {
		unknown.Warning, unknown.Hint = false, "did you mean "+strconv.Quote(near)+"?"
	}
	r.problem(p.key, unknown)
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
		from := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			from = value.Content
		}
		for _, m := range from {
			merged = append(merged, flatten(resolve(m), depth+1)...)
		}
	}
	return withMerged(own, merged)
}

func withMerged(own, merged []pair) []pair {
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

// text reads a string; numbers are text where text is due. Absent and null
// are "".
func (r *reader) text(p pair, at string) string {
	switch {
	case p.value == nil || isNull(p.value):
		return ""
	case p.value.Kind != yaml.ScalarNode:
		r.errorf(p.value, "%s: %s must be a string", at, p.name)
		return ""
	}
	return p.value.Value
}

// boolean reads true or false; absent and null are the default.
func (r *reader) boolean(p pair, at string, byDefault bool) bool {
	if p.value == nil || isNull(p.value) {
		return byDefault
	}
	var b bool
	if p.value.Kind != yaml.ScalarNode || p.value.Tag != "!!bool" || p.value.Decode(&b) != nil {
		r.errorf(p.value, "%s: %s must be true or false", at, p.name)
	}
	return b
}

// texts reads a list of strings; one string stands for a list of one.
func (r *reader) texts(p pair, at string) []pair {
	switch {
	case p.value == nil || isNull(p.value):
		return nil
	case p.value.Kind == yaml.ScalarNode:
		return []pair{p}
	case p.value.Kind != yaml.SequenceNode:
		r.errorf(p.value, "%s: %s must be a list of strings", at, p.name)
		return nil
	}
	var list []pair
	for i, n := range p.value.Content {
		item := pair{name: p.name + "[" + strconv.Itoa(i) + "]", key: n, value: resolve(n)}
		if item.value.Kind != yaml.ScalarNode || item.value.Value == "" {
			r.errorf(item.value, "%s: %s must be a string that is not empty", at, item.name)
			continue
		}
		list = append(list, item)
	}
	return list
}
