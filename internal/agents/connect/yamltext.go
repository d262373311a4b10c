package connect

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// fresh are the members that leaves make in an empty mapping.
func fresh(leaves []leaf) (members []member) {
	for _, key := range keysOf(leaves) {
		below, own := under(leaves, key)
		members = append(members, member{Key: key, Value: nested(below, own)})
	}
	return members
}

// block writes members on lines of their own.
func block(members []member, indent string) (lines []string) {
	for _, m := range members {
		head := indent + yamlString(m.Key) + ":"
		switch v := m.Value.(type) {
		case object:
			lines = append(lines, head)
			lines = append(lines, block(v, indent+"  ")...)
		case []any:
			lines = append(lines, head)
			for _, item := range v {
				lines = append(lines, indent+"  - "+yamlLine(item))
			}
		default:
			lines = append(lines, head+" "+yamlLine(v))
		}
	}
	return lines
}

// yamlLine writes a value as a flow.
func yamlLine(v any) string { return flow(v, yamlString) }

// bare is text that no YAML reader takes for anything but text.
var bare = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// yamlString writes text; text that is not a plain word is quoted as in JSON.
func yamlString(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return jsonString(s)
	}
	if bare.MatchString(s) {
		return s
	}
	return tomlValue(s) // JSON's text with DEL escaped: YAML forbids it bare
}

func yamlMember(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Kind == yaml.ScalarNode {
			return n.Content[i+1]
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func nodeError(n *yaml.Node, format string, args ...any) error {
	return &whereError{n.Line, n.Column, fmt.Errorf(format, args...)}
}

func yamlKind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping: put `- ` before it"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return "a single value"
}

var errByHand = errors.New("hookd's hooks are written in a way that cannot be cut out: edit it by hand")
