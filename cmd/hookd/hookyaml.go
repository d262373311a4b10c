package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Texts of HOOK.yaml, written node by node so that comments and the order of the old nodes
// stay.

func mapping(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		add(n, pairs[i], pairs[i+1])
	}
	return n
}

func add(n *yaml.Node, key, value string) {
	n.Content = append(n.Content, scalar(key), scalar(value))
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

// list puts a list of texts under a key.
func list(n *yaml.Node, key string, texts ...string) {
	values := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		values.Content = append(values.Content, scalar(text))
	}
	n.Content = append(n.Content, scalar(key), values)
}

// appendTo puts a node under a key: a mapping of `when` as its only element.
func appendTo(n *yaml.Node, key string, value *yaml.Node) {
	if key == "when" {
		value = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}}
	}
	n.Content = append(n.Content, scalar(key), value)
}

// listUnder returns the list under a key, which is made where there is none.
func listUnder(root *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key && root.Content[i+1].Kind == yaml.SequenceNode {
			return root.Content[i+1]
		}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	root.Content = append(root.Content, scalar(key), list)
	return list
}

// addOnce puts a node into a list that does not have it.
func addOnce(list, n *yaml.Node) {
	if !slices.ContainsFunc(list.Content, func(have *yaml.Node) bool { return same(have, n) }) {
		list.Content = append(list.Content, n)
	}
}

// same reports whether two values say the same.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}

// parseYAML returns the document in text and its mapping.
func parseYAML(text []byte) (doc, root *yaml.Node, err error) {
	doc = &yaml.Node{}
	if err := yaml.Unmarshal(text, doc); err != nil {
		return nil, nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil, errors.New("it is no mapping")
	}
	return doc, doc.Content[0], nil
}

func encodeYAML(doc *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b.Bytes(), enc.Close()
}
