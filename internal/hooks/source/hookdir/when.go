package hookdir

import (
	"fmt"
	"github.com/hookd/hookd/internal/facts"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// dataPrefix begins the members of a condition that look into the event's data.
const dataPrefix = "data."

// conditionKeys are the members of a condition.
var conditionKeys = []string{"tool", "command", "path", "prompt", dataPrefix + "PATH"}

// setWhen reads the conditions: a list of maps, or one map.
func (d *draft) setWhen(n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		d.reject(n, "write at least one condition, or leave `when` out", "when is empty: the hook would never run")
	}
	for _, item := range items {
		var c hook.Condition
		given, before := false, len(d.problems)
		d.members(item, "when", conditionKeys, func(key, value *yaml.Node) {
			given = true
			d.condition(&c, key, value)
		})
		if !given && len(d.problems) == before {
			d.reject(item, "it may have "+strings.Join(conditionKeys, ", "), "a condition of when is empty")
		}
		d.hook.When = append(d.hook.When, c)
	}
}

// condition reads one member of a condition.
func (d *draft) condition(c *hook.Condition, key, value *yaml.Node) {
	for _, item := range d.values(value, "when."+key.Value) {
		var err error
		hint := ""
		switch text := item.Value; key.Value {
		case "tool":
			err = add(&c.Tools, text, text)
		case "path":
			err = add(&c.Paths, text, d.wherever(text), '/')
		case "prompt":
			var re *regexp.Regexp
			if re, err = regexp.Compile(text); err == nil {
				c.Prompts = append(c.Prompts, re)
			}
		case "command":
			hint = "write a program and the words behind it, such as git push"
			var p facts.CommandPattern
			if p, err = facts.ParsePattern(text); err == nil {
				c.Commands = append(c.Commands, p)
			}
			if word := shellSyntax(text); word != "" {
				err = fmt.Errorf("%s is no part of a command", word)
			}
		default:
			err = addData(c, strings.Split(strings.TrimPrefix(key.Value, dataPrefix), "."), text)
		}
		if err != nil {
			d.reject(item, hint, "bad when.%s %q: %v", key.Value, item.Value, err)
		}
	}
}

// shellSyntax returns a word that joins commands or redirects them, which no single
// command has, so that the condition would never fit; "" = there is none.
func shellSyntax(command string) string {
	for word := range strings.FieldsSeq(command) {
		if strings.Trim(word, "|&;<>") == "" {
			return word
		}
	}
	return ""
}

// add compiles a glob that people know as text.
func add(to *[]pattern.Fold, text, glob string, separators ...rune) error {
	f, err := pattern.CompileFold(glob, separators...)
	if f.Text = text; err == nil {
		*to = append(*to, f)
	}
	return err
}

// addData adds a glob for the value under path.
func addData(c *hook.Condition, path []string, text string) error {
	i := slices.IndexFunc(c.Data, func(p hook.DataPattern) bool { return slices.Equal(p.Path, path) })
	if i < 0 {
		i, c.Data = len(c.Data), append(c.Data, hook.DataPattern{Path: path})
	}
	return add(&c.Data[i].Patterns, text, text)
}

// wherever is the glob of a path as it is held against absolute ones: ~ is the user's
// home, and a path that does not begin at the root may lie in any folder.
func (d *draft) wherever(text string) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && d.opt.Home != "" {
		return escapeGlob.Replace(d.opt.Home) + "/" + rest
	}
	if text = strings.TrimPrefix(text, "./"); strings.HasPrefix(text, "/") || strings.HasPrefix(text, "**") {
		return text
	}
	return "{/,/**/}" + text
}

// values returns the texts of a member that is a text, or a list of them. Numbers and
// bools count as they are written.
func (d *draft) values(n *yaml.Node, name string) (list []*yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		d.reject(n, "", "%s is empty", name)
	}
	for _, item := range items {
		if item = yamlnode.Resolve(item); item.Kind != yaml.ScalarNode || yamlnode.IsNull(item) {
			d.reject(item, "", "%s must be a string or a list of strings, is %s", name, kind(item))
			continue
		}
		list = append(list, item)
	}
	return list
}

// members calls each for the members of a mapping in a list; the second argument names the
// list's field. Only keys are known that are in words, where one may end in PATH.
func (d *draft) members(n *yaml.Node, what string, words []string, each func(key, value *yaml.Node)) {
	if n = yamlnode.Resolve(n); n.Kind != yaml.MappingNode {
		d.reject(n, "it may have "+strings.Join(words, ", "), "an element of %s must be a mapping, is %s", what, kind(n))
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
			d.reject(key, "", "a key must be a word, is %s", kind(key))
		case !known && what == "when": // without it the condition would fit what it is not meant for
			message := fmt.Sprintf("unknown key `%s` in %s", key.Value, what)
			if near := spell.Near(key.Value, words); near != "" {
				message += fmt.Sprintf(", did you mean `%s`?", near)
			}
			d.reject(key, "it may have "+strings.Join(words, ", "), "%s", message)
		case !known:
			d.unknown(key, "key", words)
		case seen[key.Value] > 0:
			d.reject(key, "", "duplicate key `%s`, first on line %d", key.Value, seen[key.Value])
		default:
			if seen[key.Value] = key.Line; !yamlnode.IsNull(value) {
				each(key, value)
			}
		}
	}
}
