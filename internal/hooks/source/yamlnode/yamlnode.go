// Package yamlnode reads the nodes of a YAML document for sources whose problems have
// a line and a column: mappings in file order, with aliases followed and merge keys
// (<<) applied.
//
// Its functions check nothing and never fail: a Reader collects problems, and callers judge keys and values. A
// document that refers to itself, or that multiplies by aliases, costs no more than its nodes.
package yamlnode

import "gopkg.in/yaml.v3"

// Pair is one key of a mapping with its value, aliases followed.
type Pair struct {
	Name       string
	Key, Value *yaml.Node
}

// Resolve follows aliases; an alias that leads to itself ends somewhere in its loop.
func Resolve(n *yaml.Node) *yaml.Node {
	for range 32 {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

// IsNull reports whether n is an explicit or an empty null.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Items returns the elements of a list; a single value stands for a list of
// one, and null for an empty one.
func Items(n *yaml.Node) []*yaml.Node {
	if IsNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	list := make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		list[i] = Resolve(c)
	}
	return list
}

// Pairs returns a mapping's pairs in file order, then those of its merge keys. A key
// of the mapping itself wins over a merged one. A key that is there twice is
// returned twice. Other nodes have none.
func Pairs(n *yaml.Node) []Pair { return flatten(n, 0) }

// flatten stops at the third merge in a merge: aliases of aliases multiply.
func flatten(n *yaml.Node, depth int) []Pair {
	if n.Kind != yaml.MappingNode || depth > 3 {
		return nil
	}
	var own, merged []Pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], Resolve(n.Content[i+1])
		if key.Tag != "!!merge" {
			own = append(own, Pair{Resolve(key).Value, key, value})
			continue
		}
		for _, from := range Items(value) {
			merged = append(merged, flatten(from, depth+1)...)
		}
	}
	return withMerged(own, merged)
}

func withMerged(own, merged []Pair) []Pair {
	if len(merged) == 0 {
		return own
	}
	has := make(map[string]bool, len(own))
	for _, p := range own {
		has[p.Name] = true
	}
	for _, p := range merged {
		if !has[p.Name] {
			has[p.Name] = true
			own = append(own, p)
		}
	}
	return own
}
