package hookdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// maxRuleFiles bounds the files with rules of one hook: each is checked before each run.
const maxRuleFiles = 256

// setRules reads the list of rules. A text in it is a file of rules, or a folder whose files
// ending in .yaml have rules; their rules stand where the text does.
func (d *draft) setRules(n *yaml.Node) {
	d.hook.Rules = &rules.Set{}
	if n.Kind != yaml.SequenceNode {
		d.addRules(n, d.file)
		return
	}
	part := &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Column: n.Column}
	flush := func() {
		if len(part.Content) > 0 {
			d.addRules(part, d.file)
			part.Content = nil
		}
	}
	for _, item := range n.Content {
		if item = yamlnode.Resolve(item); item.Kind != yaml.ScalarNode {
			part.Content = append(part.Content, item)
			continue
		}
		flush()
		d.rulesFrom(item)
	}
	if flush(); len(n.Content) == 0 {
		d.addRules(n, d.file)
	}
}

// addRules reads rules of one file behind the rules that were read before.
func (d *draft) addRules(n *yaml.Node, file string) {
	set, problems := rules.Read(n, d.hook.Rules, rules.Options{Home: d.opt.Home, File: file})
	d.hook.Rules = set
	for _, p := range problems {
		d.problems = append(d.problems, hook.Problem{
			File: file, Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint,
		})
	}
}

// rulesFrom reads the file or the folder of rules that a text names.
func (d *draft) rulesFrom(at *yaml.Node) {
	path := filepath.Join(d.hook.Dir, at.Value)
	if !filepath.IsLocal(at.Value) {
		d.reject(at, "put it beside HOOK.yaml", "rules are read from the hook's folder, and %q is outside", at.Value)
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		d.reject(at, "", "no rules in %s: %v", path, readfile.Cause(err))
	case info.IsDir():
		d.rulesIn(path, at)
	default:
		d.rulesOf(path, at)
	}
}

// rulesIn reads each file of a folder, in the order of their names.
func (d *draft) rulesIn(folder string, at *yaml.Node) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		d.reject(at, "", "the rules in %s cannot be read: %v", folder, readfile.Cause(err))
		return
	}
	d.hook.Rules.Folders = append(d.hook.Rules.Folders, folder)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".yaml") && !strings.HasPrefix(name, ".") {
			d.rulesOf(filepath.Join(folder, name), at)
		}
	}
}

func (d *draft) rulesOf(path string, at *yaml.Node) {
	if len(d.hook.Rules.Files) >= maxRuleFiles {
		d.reject(at, "join some", "the rules stand in more than %d files", maxRuleFiles)
		return
	}
	text, err := readfile.Read(path, MaxFileSize)
	if err != nil {
		d.reject(at, "", "the rules in %s cannot be read: %v", path, readfile.Cause(err))
		return
	}
	sum := sha256.Sum256(text)
	d.hook.Rules.Files = append(d.hook.Rules.Files, rules.File{Path: path, Sum: hex.EncodeToString(sum[:])})
	of := &draft{opt: d.opt, hook: d.hook}
	of.valueReader = valueReader{file: path, schema: d.schema, given: d.given, strict: d.strict}
	if root := of.parseList(text); root != nil {
		of.addRules(root, path)
	}
	d.problems = append(d.problems, of.problems...)
}

// parseList returns the list of rules in a file: the whole document, or its `rules`.
func (r *valueReader) parseList(text []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		r.syntax(text, err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil // a file of comments
	}
	root := doc.Content[0]
	if root.Kind == yaml.MappingNode && len(root.Content) == 2 && root.Content[0].Value == "rules" {
		root = yamlnode.Resolve(root.Content[1])
	}
	return root
}

// finishRules adds the rules that the user has written for the hook elsewhere, and names the
// events of a hook that names none.
func (c checks) finishRules() {
	if c.given["rules"] == nil {
		return
	}
	if at := c.given["type"]; at != nil && c.hook.Type != hook.Rules {
		c.reject(at, "remove `type`, or `rules`", "a hook with rules has no type %s", c.hook.Type)
	}
	c.hook.Type = hook.Rules
	if c.opt.RulesDir != "" && c.hook.Layer == hook.LayerUser && filepath.IsLocal(c.hook.Name) {
		c.rulesOfUser(filepath.Join(c.opt.RulesDir, c.hook.Name))
	}
	if len(c.hook.Rules.Rules) == 0 && !c.rejected() {
		c.reject(c.given["rules"], "", "the hook has no rule")
	}
	if c.given["events"] != nil {
		return
	}
	names := []string{"PreToolUse"}
	if slices.ContainsFunc(c.hook.Rules.Rules, func(r *rules.Rule) bool { return len(r.What.Prompts) > 0 }) {
		names = append(names, "UserPromptSubmit")
	}
	if slices.ContainsFunc(c.hook.Rules.Rules, func(r *rules.Rule) bool { return len(r.What.Said) > 0 }) {
		names = append(names, "Stop")
	}
	for _, name := range names {
		p, err := pattern.Compile(name)
		if err != nil { // the names are plain
			c.reject(c.given["rules"], "", "%v", err)
		}
		c.hook.Patterns = append(c.hook.Patterns, p)
	}
}

// rulesOfUser reads the user's own rules for the hook, if there are any.
func (c checks) rulesOfUser(folder string) {
	switch info, err := os.Stat(folder); {
	case errors.Is(err, os.ErrNotExist):
		c.hook.Rules.Absent = append(c.hook.Rules.Absent, folder)
	case err != nil:
		c.reject(c.given["rules"], "", "your rules in %s cannot be read: %v", folder, readfile.Cause(err))
	case info.IsDir():
		c.rulesIn(folder, c.given["rules"])
	}
}
