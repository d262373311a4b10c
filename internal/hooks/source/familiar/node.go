package familiar

import (
	"strconv"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// pairs returns the pairs of a mapping by name. A key that is given twice is a
// problem. An unknown key near a known one is an error, because a slip could turn a
// guard off; any other may be another program's, and is a warning.
func (r *reader) pairs(n *yaml.Node, at string, known []string) map[string]yamlnode.Pair {
	found := map[string]yamlnode.Pair{}
	for _, p := range yamlnode.Pairs(n) {
		if before, twice := found[p.Name]; twice {
			r.Errorf(p.Key, "%s: key %q is given twice, first in line %d", at, p.Name, before.Key.Line)
			continue
		}
		found[p.Name] = p
		r.checkKey(p, at, known)
	}
	return found
}

func (r *reader) checkKey(p yamlnode.Pair, at string, known []string) {
	for _, k := range known {
		if k == p.Name {
			return
		}
	}
	unknown := hook.Problem{
		Message: at + ": unknown key " + strconv.Quote(p.Name), Warning: true, Hint: "it is ignored",
	}
	if near := spell.Near(p.Name, known); near != "" {
		unknown.Warning, unknown.Hint = false, "did you mean "+strconv.Quote(near)+"?"
	}
	r.Problem(p.Key, unknown)
}

// boolean reads true or false; absent and null are the default.
func (r *reader) boolean(p yamlnode.Pair, at string, byDefault bool) bool {
	if p.Value == nil || yamlnode.IsNull(p.Value) {
		return byDefault
	}
	var b bool
	if p.Value.Kind != yaml.ScalarNode || p.Value.Tag != "!!bool" || p.Value.Decode(&b) != nil {
		r.Errorf(p.Value, "%s: %s must be true or false", at, p.Name)
	}
	return b
}

// texts reads a list of strings; one string stands for a list of one.
func (r *reader) texts(p yamlnode.Pair, at string) []yamlnode.Pair {
	switch {
	case p.Value == nil || yamlnode.IsNull(p.Value):
		return nil
	case p.Value.Kind == yaml.ScalarNode:
		return []yamlnode.Pair{p}
	case p.Value.Kind != yaml.SequenceNode:
		r.Errorf(p.Value, "%s: %s must be a list of strings", at, p.Name)
		return nil
	}
	var list []yamlnode.Pair
	for i, n := range p.Value.Content {
		item := yamlnode.Pair{Name: p.Name + "[" + strconv.Itoa(i) + "]", Key: n, Value: yamlnode.Resolve(n)}
		if item.Value.Kind != yaml.ScalarNode || item.Value.Value == "" {
			r.Errorf(item.Value, "%s: %s must be a string that is not empty", at, item.Name)
			continue
		}
		list = append(list, item)
	}
	return list
}
