package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/wire"
)

// Reader reads a file of hooks, and collects its problems.
type Reader struct {
	Path     string // of the file
	Lines    int    // that it has: YAML knows more kinds of line ends than editors
	Problems []wire.Problem
}

// Errorf adds an error at a node; nil = it is the whole file's.
func (r *Reader) Errorf(n *yaml.Node, format string, args ...any) {
	r.Problem(n, wire.Problem{Message: fmt.Sprintf(format, args...)})
}

// Problem adds a problem at its own line, else at that of a node; nil = it is the whole file's.
func (r *Reader) Problem(n *yaml.Node, p wire.Problem) {
	p.File = r.Path
	if p.Line == 0 && n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	p.Line = min(p.Line, r.Lines)
	r.Problems = append(r.Problems, p)
}

// Document returns the root of the only document in text, nil after a problem. empty and second are the problems of a
// text without a document and of one with two; "" = it is none, and the root is nil.
func (r *Reader) Document(text []byte, empty, second string) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		if empty != "" {
			r.Errorf(nil, "%s", empty)
		}
		return nil
	}
	if err == nil {
		err = dec.Decode(&more)
	}
	switch {
	case err == nil:
		r.Errorf(&more, "%s", second)
		return nil
	case errors.Is(err, io.EOF):
		return doc.Content[0]
	}
	p := wire.Problem{Message: err.Error()}
	if _, scanErr := fmt.Sscanf(p.Message, "yaml: line %d:", &p.Line); scanErr == nil {
		p.Column = 1
	}
	r.Problem(nil, p)
	return nil
}

// Lookup returns the value of a key, nil if there is none. The rest of the mapping is not looked at.
func (r *Reader) Lookup(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	for _, p := range Pairs(Resolve(n)) {
		if p.Name != key {
			continue
		}
		if found != nil {
			r.Errorf(p.Key, "key %q is given twice", key)
		}
		found = p.Value
	}
	return found
}

// Text reads a scalar as it is written: numbers are text where text is due. Absent and null are "".
func (r *Reader) Text(p Pair, at string) string {
	switch {
	case p.Value == nil || IsNull(p.Value):
		return ""
	case p.Value.Kind != yaml.ScalarNode:
		r.Errorf(p.Value, "%s: %s must be a string", at, p.Name)
		return ""
	}
	return p.Value.Value
}
