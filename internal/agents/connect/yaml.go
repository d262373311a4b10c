package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// yamlFormat is YAML. Members that are added to a block stand on lines of their own, at
// the beginning of the block; a flow, {} or [], is added to in place.
type yamlFormat struct{}

var yamlPlace = lazyregexp.New(`^yaml: line (\d+): (.*)$`)

func (yamlFormat) document(text []byte) (*yaml.Node, error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		if m := yamlPlace.FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			return nil, &whereError{line, 1, errors.New("not valid YAML: " + m[2])}
		}
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		err := errors.New("want one YAML document, found a second one")
		return nil, &whereError{max(more.Line, 1), max(more.Column, 1), err}
	}
	if doc.Kind == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	if root := doc.Content[0]; root.Kind != yaml.MappingNode {
		return nil, nodeError(root, "want a mapping, found %s", yamlKind(root))
	}
	return doc.Content[0], nil
}

func (f yamlFormat) parse(text []byte) (map[string]any, error) {
	root, err := f.document(text)
	if err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if root == nil {
		return tree, nil
	}
	if err := root.Decode(&tree); err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	return tree, nil
}

func (f yamlFormat) add(text []byte, leaves []leaf) ([]byte, error) {
	root, err := f.document(text)
	if err != nil {
		return nil, err
	}
	e := newYAMLEdit(text)
	if root == nil {
		e.atEnd("", fresh(leaves))
		return e.apply(text), nil
	}
	e.keys(root, nil)
	err = e.mapping(root, leaves)
	return e.apply(text), err
}

// yamlEdit collects the edits of one text.
type yamlEdit struct {
	edits
	text    []byte
	newline string
	starts  []int                     // offsets of lines; line 1 is the first
	keyOf   map[*yaml.Node]*yaml.Node // the key before a value
	done    map[string]bool           // places that an alias leads to again
}

func newYAMLEdit(text []byte) *yamlEdit {
	e := &yamlEdit{text: text, newline: newline(text), keyOf: map[*yaml.Node]*yaml.Node{}, done: map[string]bool{}}
	e.starts = []int{0, 0}
	for i := 0; i < len(text); {
		size := breakAt(text[i:])
		if i += max(size, 1); size > 0 {
			e.starts = append(e.starts, i)
		}
	}
	return e
}

// breakAt is the length of the bytes that YAML takes for a line end.
func breakAt(text []byte) int {
	for _, b := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(b)) {
			return len(b)
		}
	}
	return 0
}

func (e *yamlEdit) keys(n, key *yaml.Node) {
	e.keyOf[n] = key
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			e.keys(inner, n.Content[i-1])
		} else {
			e.keys(inner, nil)
		}
	}
}

// offset is where a node begins.
func (e *yamlEdit) offset(n *yaml.Node) int {
	if n.Line >= len(e.starts) {
		return len(e.text)
	}
	at := e.starts[n.Line]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(e.text[at:])
		at += size
	}
	return at
}

// below is where the line behind a key begins.
func (e *yamlEdit) below(key *yaml.Node) int {
	if key.Line+1 >= len(e.starts) {
		return len(e.text)
	}
	return e.starts[key.Line+1]
}

// mapping adds leaves to a mapping.
func (e *yamlEdit) mapping(n *yaml.Node, leaves []leaf) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nodeError(n, "want a mapping of hooks, found %s", yamlKind(n))
	}
	var merged map[string]any
	if err := n.Decode(&merged); err != nil {
		return nodeError(n, "%w", err)
	}
	var fresh []member
	for _, key := range keysOf(leaves) {
		below, own := under(leaves, key)
		v := yamlMember(n, key)
		_, there := merged[key]
		var err error
		switch {
		case v == nil && there:
			err = nodeError(n, "%q comes from a merge (<<) here: write it out first", key)
		case v == nil:
			fresh = append(fresh, member{Key: key, Value: nested(below, own)})
		case isNull(v):
			err = e.fill(v, nested(below, own))
		case len(below) > 0:
			err = e.mapping(v, below)
		case own.List:
			err = e.sequence(v, own.Value)
		}
		if err != nil {
			return err
		}
	}
	return e.members(n, fresh)
}

// members adds new members to a mapping. A mapping that an alias leads to again has
// them already.
func (e *yamlEdit) members(n *yaml.Node, fresh []member) error {
	kept := fresh[:0]
	for _, m := range fresh {
		if place := fmt.Sprintf("%p %s", n, m.Key); !e.done[place] {
			e.done[place] = true
			kept = append(kept, m)
		}
	}
	key := e.keyOf[n]
	switch {
	case len(kept) == 0:
		return nil
	case n.Style&yaml.FlowStyle != 0:
		return e.flow(n, '{', strings.TrimSuffix(strings.TrimPrefix(yamlLine([]member(kept)), "{"), "}"))
	case key == nil:
		e.atEnd(strings.Repeat(" ", n.Column-1), kept)
		return nil
	case n.Content[0].Line <= key.Line:
		return nodeError(n, "cannot add to it: begin it on a line of its own")
	}
	e.put(e.below(key), e.lines(block(kept, strings.Repeat(" ", n.Content[0].Column-1))))
	return nil
}

// sequence adds an item to a list.
func (e *yamlEdit) sequence(n *yaml.Node, item any) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	place := fmt.Sprintf("%p", n)
	key := e.keyOf[n]
	switch {
	case n.Kind != yaml.SequenceNode:
		return nodeError(n, "want a list of hooks, found %s", yamlKind(n))
	case e.done[place]:
		return nil
	case n.Style&yaml.FlowStyle != 0:
		e.done[place] = true
		return e.flow(n, '[', yamlLine(item))
	case key == nil || n.Line <= key.Line:
		return nodeError(n, "cannot add to it: begin it on a line of its own")
	}
	e.done[place] = true
	e.put(e.below(key), e.lines([]string{strings.Repeat(" ", n.Column-1) + "- " + yamlLine(item)}))
	return nil
}

// fill gives a key without a value one, on the lines below it.
func (e *yamlEdit) fill(n *yaml.Node, v any) error {
	key := e.keyOf[n]
	if n.Value != "" || n.Anchor != "" || key == nil || e.inFlow(key) {
		return nodeError(n, "it is %q: leave its place empty, then try again", n.Value)
	}
	indent := strings.Repeat(" ", key.Column-1) + "  "
	var text []string
	switch v := v.(type) {
	case object:
		text = block(v, indent)
	case []any:
		text = []string{indent + "- " + yamlLine(v[0])}
	}
	from := e.below(key)
	if from == len(e.text) && !bytes.HasSuffix(e.text, []byte("\n")) {
		e.put(from, e.newline+strings.TrimSuffix(e.lines(text), e.newline))
		return nil
	}
	e.put(from, e.lines(text))
	return nil
}

// inFlow reports whether something else begins on the line before a key.
func (e *yamlEdit) inFlow(key *yaml.Node) bool {
	return len(bytes.TrimSpace(e.text[e.starts[key.Line]:e.offset(key)])) > 0
}

// flow adds the text of an item behind the bracket of a flow.
func (e *yamlEdit) flow(n *yaml.Node, bracket byte, item string) error {
	from := e.offset(n)
	if from >= len(e.text) || e.text[from] != bracket {
		return nodeError(n, "cannot add to it: take its anchor or tag off")
	}
	if len(n.Content) > 0 {
		item += ", "
	}
	e.put(from+1, item)
	return nil
}

// atEnd adds members behind everything else, with the last line's kind of end.
func (e *yamlEdit) atEnd(indent string, members []member) {
	text := e.lines(block(members, indent))
	if len(e.text) > 0 && !bytes.HasSuffix(e.text, []byte("\n")) {
		text = e.newline + strings.TrimSuffix(text, e.newline)
	}
	e.put(len(e.text), text)
}

func (e *yamlEdit) lines(text []string) string {
	return strings.Join(text, e.newline) + e.newline
}
