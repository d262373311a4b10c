package hookdir

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// draft is a hook while its file is read.
type draft struct {
	opt      Options
	file     string
	hook     *hook.Hook
	schema   []row // the schema; the setters in it cannot name it themselves
	problems []hook.Problem

	given map[string]*yaml.Node // values of the keys that were set, by schema key
	keys  map[string]*yaml.Node // and the keys themselves
	args  []string              // nil = no args: the command is split
}

func newDraft(dir string, opt Options) *draft {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	file := filepath.Join(dir, FileName)
	return &draft{
		opt:    opt,
		schema: schema,
		file:   file,
		given:  map[string]*yaml.Node{},
		keys:   map[string]*yaml.Node{},
		hook: &hook.Hook{
			Source:  hook.Source{Type: SourceType, Path: dir},
			File:    file,
			Dir:     dir,
			Type:    hook.Command,
			Lane:    events.LaneDefault,
			OnError: hook.OnErrorWarn,
			Order:   hook.OrderSession,
			Enabled: true,
			Layer:   opt.Layer,
			Project: opt.Project,
		},
	}
}

// mapping reads the keys of a mapping by the rows of the schema that begin
// with prefix.
func (d *draft) mapping(n *yaml.Node, prefix string) {
	n = yamlnode.Resolve(n)
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		id := prefix + key.Value
		row, known := rowOf(d.schema, id)
		switch {
		case key.Kind != yaml.ScalarNode:
			d.reject(key, "", "a key must be a word, is %s", kind(key))
		case key.Value == "<<":
			d.reject(key, "write the fields out", "merge keys are not read")
		case !known || prefix == "" && strings.Contains(key.Value, "."):
			d.unknown(key, "key", keysUnder(prefix))
		case d.keys[id] != nil:
			d.reject(key, "", "duplicate key `%s`, first on line %d", key.Value, d.keys[id].Line)
		default:
			d.keys[id] = key
			if value = yamlnode.Resolve(value); !yamlnode.IsNull(value) { // nothing is as good as absent
				d.given[id] = value
				d.set(row, value)
			}
		}
	}
}

func (d *draft) set(r row, value *yaml.Node) {
	if r.set == nil {
		d.mapping(value, r.Key+".")
		return
	}
	r.set(d, value)
}

// finish makes the checks that need more than one field.
func (d *draft) finish(root *yaml.Node) {
	d.finishRules()
	for _, f := range d.schema {
		switch {
		case f.Key == "events" && d.hook.Type == hook.Rules:
		case f.Required && f.usedBy(d.hook.Type) && d.given[f.Key] == nil:
			d.required(root, f.Field)
		case !f.usedBy(d.hook.Type) && d.given[f.Key] != nil:
			d.ignored(d.keys[f.Key], fmt.Sprintf("`%s` is not used by type %s", f.Key, d.hook.Type), "")
		}
	}
	d.identify()
	if d.hook.Timeout == 0 {
		d.hook.Timeout = d.opt.timeout(d.hook.Type)
	}
	if at := d.given["term_before"]; at != nil && d.hook.TermBefore >= d.hook.Timeout {
		d.reject(at, "", "term_before %s must be shorter than the timeout %s", d.hook.TermBefore, d.hook.Timeout)
	}
	d.hook.Persistent = d.hook.Persistent && (d.hook.Type == hook.Command || d.hook.Type == hook.Script)
	if at := d.keys["term_before"]; at != nil && d.hook.Persistent {
		d.ignored(at, "`term_before` is not used by mode persistent: one answer too late, and it is killed", "")
	}
	d.checkProof()
	d.checkScope()
	d.checkTools()
	switch d.hook.Type {
	case hook.Command:
		if at := d.given["command"]; at != nil && d.hook.Command != "" {
			d.findCommand(at)
		}
	case hook.Script:
		d.hook.Shell = d.opt.Shell
	case hook.Builtin:
		d.hook.Args = d.args
		d.checkBuiltin(d.given["command"])
		d.checkGuard(d.given["events"])
	case hook.Model:
		d.checkModel(root)
	}
	d.checkWildcard()
}

// identify gives the hook the name that it has among all others. Names of shared
// hooks are plain, so that none can look like another's.
func (d *draft) identify() {
	name := d.hook.Name
	if d.opt.Layer.Sealed() && strings.Trim(name, plainName) != "" {
		d.reject(d.given["name"], "write letters, digits, dots, - and _", "%q is no name of a shared hook", name)
	}
	d.hook.Name = d.opt.Prefix + name
	d.hook.ID = d.hook.Name
	if d.hook.Project == "" {
		return
	}
	d.hook.ID += "@" + d.hook.Project
	if d.hook.Lane == events.LanePreempt {
		d.warn(d.given["lane"], "", "lane preempt is for the user's own hooks: it runs after them")
		d.hook.Lane = events.LaneDefault
	}
}

const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// checkBuiltin warns of a built-in that does not exist, as docker-agent loads
// such hooks too: each of their runs fails.
func (d *draft) checkBuiltin(at *yaml.Node) {
	name := d.hook.Command
	if at == nil || name == "" || d.opt.Builtins == nil || slices.Contains(d.opt.Builtins, name) {
		return
	}
	hint := "there are " + strings.Join(d.opt.Builtins, ", ")
	if near := spell.Near(name, d.opt.Builtins); near != "" {
		hint = fmt.Sprintf("did you mean `%s`?", near)
	}
	d.warn(at, hint, "no built-in is called `%s`", name)
}

// checkGuard warns of events on which a guard would see calls go by and have no
// say, or would not be called at all.
func (d *draft) checkGuard(at *yaml.Node) {
	if at == nil || d.opt.CheckGuard == nil || d.rejected() {
		return
	}
	for _, p := range d.hook.Patterns {
		if why := d.opt.CheckGuard(d.hook, p); why != "" {
			d.warn(at, "hookd events", "`%s` does nothing on `%s`: %s", d.hook.Command, p.Text, why)
		}
	}
}

func (d *draft) checkModel(root *yaml.Node) {
	if d.opt.CheckModel == nil || d.rejected() {
		return
	}
	if err := d.opt.CheckModel(d.hook); err != nil {
		at := root
		if d.given["prompt"] != nil {
			at = d.given["prompt"]
		}
		d.reject(at, "", "%v", err)
	}
}

func (d *draft) required(root *yaml.Node, f Field) {
	at, hint := root, ""
	if key := d.keys[f.Key]; key != nil {
		at = key
	}
	if f.Key == "command" && d.given["script"] != nil {
		hint = "add `type: script`"
	}
	d.reject(at, hint, "missing required field `%s`", f.Key)
}

// unknown notes a key that is not in the schema: LibreFang tolerates it.
func (d *draft) unknown(key *yaml.Node, what string, words []string) {
	message := fmt.Sprintf("unknown %s `%s`", what, key.Value)
	if near := spell.Near(key.Value, words); near != "" {
		message += fmt.Sprintf(", did you mean `%s`?", near)
	}
	d.ignored(key, message, "")
}

// ignored notes something that has no effect; strict reading rejects it.
func (d *draft) ignored(at *yaml.Node, message, hint string) {
	d.problems = append(d.problems, d.problem(at, message, hint, !d.opt.Strict))
}

func (d *draft) warn(at *yaml.Node, hint, format string, args ...any) {
	d.problems = append(d.problems, d.problem(at, fmt.Sprintf(format, args...), hint, true))
}

func (d *draft) reject(at *yaml.Node, hint, format string, args ...any) {
	d.problems = append(d.problems, d.problem(at, fmt.Sprintf(format, args...), hint, false))
}

func (d *draft) wrongType(n *yaml.Node, want string) {
	hint := ""
	switch {
	case want != "a string":
	case n.Kind == yaml.ScalarNode:
		hint = fmt.Sprintf("write %q", n.Value)
	case n.Kind == yaml.MappingNode && len(n.Content) == 2: // `- agent: end`
		hint = fmt.Sprintf("write %s:%s, without a blank", n.Content[0].Value, n.Content[1].Value)
	}
	d.reject(n, hint, "%smust be %s, is %s", d.label(n), want, kind(n))
}

// label names the field a value belongs to.
func (d *draft) label(n *yaml.Node) string {
	for _, r := range d.schema {
		if value := d.given[r.Key]; value != nil && (value == n || slices.Contains(value.Content, n)) {
			return r.Key + " "
		}
	}
	return ""
}

func (d *draft) problem(at *yaml.Node, message, hint string, warning bool) hook.Problem {
	p := hook.Problem{File: d.file, Message: message, Hint: hint, Warning: warning}
	if at != nil {
		p.Line, p.Column = at.Line, at.Column
	}
	return p
}

func (d *draft) rejected() bool {
	return hook.Rejects(d.problems)
}

func byPosition(a, b hook.Problem) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// text reads a string.
func (d *draft) text(n *yaml.Node, to *string) bool {
	if n = yamlnode.Resolve(n); n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.wrongType(n, "a string")
		return false
	}
	*to = n.Value
	return true
}

// list returns the elements of a list; one string is a list of itself.
func (d *draft) list(n *yaml.Node) []*yaml.Node {
	if n = yamlnode.Resolve(n); n.Kind == yaml.SequenceNode {
		return n.Content
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.wrongType(n, "a list of strings")
		return nil
	}
	return []*yaml.Node{n}
}

// texts reads a list of strings. The result is not nil: an empty list that
// was given differs from none.
func (d *draft) texts(n *yaml.Node) []string {
	out := []string{}
	if yamlnode.Resolve(n).Kind != yaml.SequenceNode {
		d.wrongType(n, "a list of strings")
		return out
	}
	for _, item := range d.list(n) {
		var s string
		if d.text(item, &s) {
			out = append(out, s)
		}
	}
	return out
}

// patterns reads a list of globs.
func (d *draft) patterns(n *yaml.Node, separators ...rune) []pattern.Pattern {
	var out []pattern.Pattern
	for _, item := range d.list(n) {
		var s string
		if !d.text(item, &s) {
			continue
		}
		p, err := pattern.Compile(s, separators...)
		if err != nil {
			d.reject(item, "", "bad glob %q: %v", s, err)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (d *draft) boolean(n *yaml.Node, to *bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(to) != nil {
		d.wrongType(n, "true or false")
	}
}

// word reads one of a few words.
func word[T ~string](d *draft, n *yaml.Node, words []string, to *T) {
	var s string
	if !d.text(n, &s) {
		return
	}
	if slices.Contains(words, s) {
		*to = T(s)
		return
	}
	message := fmt.Sprintf("unknown value `%s`", s)
	if near := spell.Near(s, words); near != "" {
		message += fmt.Sprintf(", did you mean `%s`?", near)
	}
	d.reject(n, "", "%s%s; it is one of %s", d.label(n), message, strings.Join(words, ", "))
}

// setOnError also takes block, docker-agent's word for deny.
func (d *draft) setOnError(n *yaml.Node) {
	if yamlnode.Resolve(n).Value == "block" {
		d.hook.OnError = hook.OnErrorDeny
		return
	}
	word(d, n, onError, &d.hook.OnError)
}

// howToWrite is the hint for a wrong duration. mostSeconds bounds a number of seconds before a
// field's own limit is looked at.
const (
	howToWrite  = "write 500ms, 5s, 2m, or a number of seconds"
	mostSeconds = 1e9
)

// duration reads a Go duration or a number of seconds.
func (d *draft) duration(n *yaml.Node) (time.Duration, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
	case n.ShortTag() == "!!str":
		t, err := duration.Parse(n.Value)
		if err != nil {
			d.reject(n, howToWrite, "%sis not a duration: %q", d.label(n), n.Value)
		}
		return t, err == nil
	case n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		var seconds float64
		if n.Decode(&seconds) != nil || math.IsNaN(seconds) || math.Abs(seconds) > mostSeconds {
			d.reject(n, howToWrite, "%s%s is out of range", d.label(n), n.Value)
			return 0, false
		}
		return time.Duration(math.Round(seconds * float64(time.Second))), true
	}
	d.reject(n, howToWrite, "%smust be a duration, is %s", d.label(n), kind(n))
	return 0, false
}
