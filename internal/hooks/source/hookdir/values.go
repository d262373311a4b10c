package hookdir

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// valueReader reads the values of one file, and collects its problems.
type valueReader struct {
	file     string
	schema   []row                 // of HOOK.yaml; a setter that names the package's would be an initialization cycle
	given    map[string]*yaml.Node // the nodes of the values that were set, by schema key
	strict   bool                  // what has no effect is rejected
	problems []hook.Problem
}

// unknown notes a key that is not in the schema: LibreFang tolerates it.
func (r *valueReader) unknown(key *yaml.Node, what string, words []string) {
	r.ignored(key, fmt.Sprintf("unknown %s `%s`", what, key.Value)+spell.DidYouMean(key.Value, words), "")
}

// ignored notes something that has no effect; strict reading rejects it.
func (r *valueReader) ignored(at *yaml.Node, message, hint string) {
	r.problems = append(r.problems, r.problem(at, message, hint, !r.strict))
}

func (r *valueReader) warn(at *yaml.Node, hint, format string, args ...any) {
	r.problems = append(r.problems, r.problem(at, fmt.Sprintf(format, args...), hint, true))
}

func (r *valueReader) reject(at *yaml.Node, hint, format string, args ...any) {
	r.problems = append(r.problems, r.problem(at, fmt.Sprintf(format, args...), hint, false))
}

func (r *valueReader) wrongType(n *yaml.Node, want string) {
	hint := ""
	switch {
	case want != "a string":
	case n.Kind == yaml.ScalarNode:
		hint = fmt.Sprintf("write %q", n.Value)
	case n.Kind == yaml.MappingNode && len(n.Content) == 2: // `- agent: end`
		hint = fmt.Sprintf("write %s:%s, without a blank", n.Content[0].Value, n.Content[1].Value)
	}
	r.reject(n, hint, "%smust be %s, is %s", r.label(n), want, kind(n))
}

// label names the field a value belongs to.
func (r *valueReader) label(n *yaml.Node) string {
	for _, row := range r.schema {
		if value := r.given[row.Key]; value != nil && (value == n || slices.Contains(value.Content, n)) {
			return row.Key + " "
		}
	}
	return ""
}

func (r *valueReader) problem(at *yaml.Node, message, hint string, warning bool) hook.Problem {
	p := hook.Problem{File: r.file, Message: message, Hint: hint, Warning: warning}
	if at != nil {
		p.Line, p.Column = at.Line, at.Column
	}
	return p
}

func (r *valueReader) rejected() bool {
	return hook.Rejects(r.problems)
}

// text reads a string.
func (r *valueReader) text(n *yaml.Node, to *string) bool {
	if n = yamlnode.Resolve(n); n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.wrongType(n, "a string")
		return false
	}
	*to = n.Value
	return true
}

// list returns the elements of a list; one string is a list of itself.
func (r *valueReader) list(n *yaml.Node) []*yaml.Node {
	if n = yamlnode.Resolve(n); n.Kind == yaml.SequenceNode {
		return n.Content
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.wrongType(n, "a list of strings")
		return nil
	}
	return []*yaml.Node{n}
}

// texts reads a list of strings. The result is not nil: an empty list that
// was given differs from none.
func (r *valueReader) texts(n *yaml.Node) []string {
	out := []string{}
	if yamlnode.Resolve(n).Kind != yaml.SequenceNode {
		r.wrongType(n, "a list of strings")
		return out
	}
	for _, item := range r.list(n) {
		var s string
		if r.text(item, &s) {
			out = append(out, s)
		}
	}
	return out
}

// patterns reads a list of globs.
func (r *valueReader) patterns(n *yaml.Node, separators ...rune) []pattern.Pattern {
	var out []pattern.Pattern
	for _, item := range r.list(n) {
		var s string
		if !r.text(item, &s) {
			continue
		}
		p, err := pattern.Compile(s, separators...)
		if err != nil {
			r.reject(item, "", "bad glob %q: %v", s, err)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (r *valueReader) boolean(n *yaml.Node, to *bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(to) != nil {
		r.wrongType(n, "true or false")
	}
}

// howToWrite is the hint for a wrong duration. mostSeconds bounds a number of seconds before a
// field's own limit is looked at.
const (
	howToWrite  = "write 500ms, 5s, 2m, or a number of seconds"
	mostSeconds = 1e9
)

// duration reads a Go duration or a number of seconds.
func (r *valueReader) duration(n *yaml.Node) (time.Duration, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
	case n.ShortTag() == "!!str":
		t, err := duration.Parse(n.Value)
		if err != nil {
			r.reject(n, howToWrite, "%sis not a duration: %q", r.label(n), n.Value)
		}
		return t, err == nil
	case n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		var seconds float64
		if n.Decode(&seconds) != nil || math.IsNaN(seconds) || math.Abs(seconds) > mostSeconds {
			r.reject(n, howToWrite, "%s%s is out of range", r.label(n), n.Value)
			return 0, false
		}
		return time.Duration(math.Round(seconds * float64(time.Second))), true
	}
	r.reject(n, howToWrite, "%smust be a duration, is %s", r.label(n), kind(n))
	return 0, false
}

func byPosition(a, b hook.Problem) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// word reads one of a few words.
func word[T ~string](r *valueReader, n *yaml.Node, words []string, to *T) {
	var s string
	if !r.text(n, &s) {
		return
	}
	if slices.Contains(words, s) {
		*to = T(s)
		return
	}
	message := fmt.Sprintf("unknown value `%s`", s) + spell.DidYouMean(s, words)
	r.reject(n, "", "%s%s; it is one of %s", r.label(n), message, strings.Join(words, ", "))
}

// values returns the texts of a member, which has one text or a list. Numbers and bools
// count as they are written.
func (r *valueReader) values(n *yaml.Node, name string) (list []*yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		r.reject(n, "", "%s is empty", name)
	}
	for _, item := range items {
		if item = yamlnode.Resolve(item); item.Kind != yaml.ScalarNode || yamlnode.IsNull(item) {
			r.reject(item, "", "%s must be a string or a list of strings, is %s", name, kind(item))
			continue
		}
		list = append(list, item)
	}
	return list
}

// members calls each for the members of a mapping in a list; the second argument names the
// list's field. Only keys are known that are in words, where one may end in PATH.
func (r *valueReader) members(n *yaml.Node, what string, words []string, each func(key, value *yaml.Node)) {
	if n = yamlnode.Resolve(n); n.Kind != yaml.MappingNode {
		r.reject(n, "it may have "+strings.Join(words, ", "), "an element of %s must be a mapping, is %s", what, kind(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], yamlnode.Resolve(n.Content[i+1])
		path, ofData := strings.CutPrefix(key.Value, dataPrefix)
		known := slices.Contains(words, key.Value) && key.Value != dataPrefix+"PATH" ||
			ofData && path != "" && slices.Contains(words, dataPrefix+"PATH")
		switch {
		case key.Kind != yaml.ScalarNode:
			r.reject(key, "", "a key must be a word, is %s", kind(key))
		case !known && what == "when": // without it the condition would fit what it is not meant for
			r.reject(key, "it may have "+strings.Join(words, ", "), "unknown key `%s` in %s%s",
				key.Value, what, spell.DidYouMean(key.Value, words))
		case !known:
			r.unknown(key, "key", words)
		case seen[key.Value] > 0:
			r.reject(key, "", "duplicate key `%s`, first on line %d", key.Value, seen[key.Value])
		default:
			if seen[key.Value] = key.Line; !yamlnode.IsNull(value) {
				each(key, value)
			}
		}
	}
}
