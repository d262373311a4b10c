package familiar

import "mvdan.cc/sh/v3/syntax"

// maxRounds bounds how many assignments a value is followed through.
const maxRounds = 16

// taints follows values into the script's own variables: it has the names that are
// assigned a placeholder, or a variable that was. The output of a command that got a
// value, v=$(… {{x}} …), is not followed.
type taints struct {
	c     *compiler
	names map[string]bool
}

func (c *compiler) taints(file *syntax.File) *taints {
	t := &taints{c, map[string]bool{}}
	for range maxRounds {
		before := len(t.names)
		syntax.Walk(file, func(n syntax.Node) bool {
			t.assign(n)
			return true
		})
		if len(t.names) == before {
			break
		}
	}
	return t
}

func (t *taints) assign(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil && t.flows(n.Value) {
			t.names[n.Name.Value] = true
		}
	case *syntax.WordIter:
		for _, item := range n.Items {
			if t.flows(item) {
				t.names[n.Name.Value] = true
			}
		}
	case *syntax.CallExpr: // export NAME=value and its kin
		for _, w := range n.Args {
			if name, ok := assigned(w); ok && t.flows(w) {
				t.names[name] = true
			}
		}
	}
}

// assigned returns NAME of a word NAME=….
func assigned(w *syntax.Word) (name string, ok bool) {
	lit, isLit := w.Parts[0].(*syntax.Lit)
	if !isLit {
		return "", false
	}
	for i, r := range lit.Value {
		if r == '=' {
			return lit.Value[:i], i > 0
		}
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			break
		}
	}
	return "", false
}

// flows reports whether a value becomes a part of the word as it is.
func (t *taints) flows(n syntax.Node) bool { return t.find(n, false) != nil }

// holds returns the first node in n that brings a value, also through the
// output of a command; nil if there is none.
func (t *taints) holds(n syntax.Node) syntax.Node { return t.find(n, true) }

func (t *taints) find(n syntax.Node, throughCommands bool) (found syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return throughCommands && found == nil
		case *syntax.Lit:
			if found == nil && len(t.c.marksIn(n)) > 0 {
				found = n
			}
		case *syntax.SglQuoted:
			if found == nil && len(t.c.marksIn(n)) > 0 {
				found = n
			}
		case *syntax.ParamExp:
			if found == nil && n.Param != nil && t.names[n.Param.Value] {
				found = n
			}
		}
		return found == nil
	})
	return found
}
