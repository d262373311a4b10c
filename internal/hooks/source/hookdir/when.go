package hookdir

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/facts"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/hooks/hook"
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
			err = add(&c.Paths, text, d.opt.wherever(text), '/')
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
// home, and a path that does not begin at the root may lie in any folder. A / at the end is all in the folder.
func (o Options) wherever(text string) string {
	if strings.HasSuffix(text, "/") && text != "/" {
		text += "**"
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && o.Home != "" {
		return pattern.Quote(o.Home) + "/" + rest
	}
	if text = strings.TrimPrefix(text, "./"); strings.HasPrefix(text, "/") || strings.HasPrefix(text, "**") {
		return text
	}
	return "{/,/**/}" + text
}
