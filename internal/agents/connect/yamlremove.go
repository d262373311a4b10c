package connect

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

func (f yamlFormat) remove(text []byte, a *agent, ours func(call) bool, keep func([]string) bool) ([]byte, error) {
	root, err := f.document(text)
	if err != nil || root == nil {
		return text, err
	}
	r := &yamlCut{yamlEdit: newYAMLEdit(text), agent: a, ours: ours, keep: keep}
	r.keys(root, nil)
	if _, err := r.mapping(root, a.At, nil); err != nil {
		return nil, err
	}
	return r.apply(text), nil
}

// yamlCut cuts calls of the bridge out of a text.
type yamlCut struct {
	*yamlEdit
	agent *agent
	ours  func(call) bool
	keep  func(path []string) bool
}

// mapping cuts out of the mappings that rest leads to from n, which path led
// to, and reports whether n is empty now because of that. The content that an alias stands
// for is cut where its anchor is.
func (r *yamlCut) mapping(n *yaml.Node, rest, path []string) (empty bool, err error) {
	if n.Kind != yaml.MappingNode {
		return false, nil
	}
	gone := make([]bool, len(n.Content)/2)
	for i := range gone {
		key, v := n.Content[2*i], n.Content[2*i+1]
		here := append(slices.Clone(path), key.Value)
		switch {
		case len(rest) == 0:
			gone[i], err = r.list(v)
		case rest[0] == "*" || rest[0] == key.Value:
			gone[i], err = r.mapping(v, rest[1:], here)
		}
		if err != nil {
			return false, err
		}
		gone[i] = gone[i] && !r.keep(here)
	}
	for i, g := range gone {
		if g {
			key, v := n.Content[2*i], n.Content[2*i+1]
			if err := r.cutOut(n, key, v, r.line(key), key.Column, true); err != nil {
				return false, err
			}
		}
	}
	return len(gone) > 0 && !slices.Contains(gone, false), nil
}

// list cuts out of the hooks of an event, and reports whether none is left
// because of that.
func (r *yamlCut) list(n *yaml.Node) (empty bool, err error) {
	if n.Kind != yaml.SequenceNode {
		return false, nil
	}
	gone := make([]bool, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			continue
		}
		gone[i] = r.isOurs(item)
		if hooks := yamlMember(item, "hooks"); hooks != nil && !gone[i] {
			if gone[i], err = r.list(hooks); err != nil {
				return false, err
			}
		}
	}
	for i, g := range gone {
		if g {
			if err := r.cutOut(n, n.Content[i], n.Content[i], r.dash(n, n.Content[i]), n.Column, false); err != nil {
				return false, err
			}
		}
	}
	return len(gone) > 0 && !slices.Contains(gone, false), nil
}

func (r *yamlCut) isOurs(n *yaml.Node) bool {
	command := yamlMember(n, r.agent.Keys.Command)
	if command == nil || command.Kind != yaml.ScalarNode {
		return false
	}
	c, ok := callOf(command.Value, string(r.agent.name))
	return ok && r.ours(c)
}

// line is the line of a key that begins it; 0 if something else does.
func (r *yamlCut) line(key *yaml.Node) int {
	if r.inFlow(key) {
		return 0
	}
	return key.Line
}

// dash is the line of an item's dash; 0 if the line does not begin with it.
func (r *yamlCut) dash(list, item *yaml.Node) int {
	at := r.starts[item.Line]
	if !bytes.Equal(bytes.TrimSpace(r.text[at:r.offset(item)]), []byte("-")) {
		return 0
	}
	return item.Line
}

// cutOut cuts a member, or an item, out of n: in a block its lines, from the
// given one to the last that is indented more than column; in a flow its text,
// up to the end of v.
func (r *yamlCut) cutOut(n, start, v *yaml.Node, line, column int, member bool) error {
	if n.Style&yaml.FlowStyle != 0 {
		return r.cutFlow(r.offset(start), r.offset(v))
	}
	if line == 0 {
		return &whereError{start.Line, start.Column, errByHand}
	}
	last := line
	for i := line + 1; i < len(r.starts); i++ {
		text := r.lineText(i)
		indent := len(text) - len(bytes.TrimLeft(text, " "))
		rest := bytes.TrimSpace(text)
		isItem := bytes.HasPrefix(rest, []byte("- ")) || bytes.Equal(rest, []byte("-"))
		dashed := member && indent == column-1 && isItem
		switch {
		case len(rest) == 0 || rest[0] == '#':
			continue
		case indent < column && !dashed:
			i = len(r.starts)
			continue
		}
		last = i
	}
	to := len(r.text)
	if last+1 < len(r.starts) {
		to = r.starts[last+1]
	}
	r.cut(r.starts[line], to)
	return nil
}

func (r *yamlCut) lineText(line int) []byte {
	to := len(r.text)
	if line+1 < len(r.starts) {
		to = r.starts[line+1]
	}
	return bytes.TrimRight(r.text[r.starts[line]:to], "\r\n")
}

// cutFlow cuts from an offset to the end of the flow that begins at another,
// with one of the commas around it.
func (r *yamlCut) cutFlow(from, value int) error {
	to := flowEnd(r.text, value)
	if to < 0 {
		return at(r.text, from, "%w", errByHand)
	}
	after := len(r.text) - len(bytes.TrimLeft(r.text[to:], " \t\r\n"))
	before := len(bytes.TrimRight(r.text[:from], " \t\r\n"))
	switch {
	case after < len(r.text) && r.text[after] == ',':
		r.cut(from, len(r.text)-len(bytes.TrimLeft(r.text[after+1:], " \t\r\n")))
	case before > 0 && r.text[before-1] == ',':
		r.cut(before-1, to)
	default:
		r.cut(from, to)
	}
	return nil
}

// flowEnd is the offset behind the flow that begins at an offset; -1 if none
// does.
func flowEnd(text []byte, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}
