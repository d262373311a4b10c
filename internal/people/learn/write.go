package learn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Hook is the hook that rules are written into.
const Hook = "quiet"

// prefix begins the names of rules and tests that were learned.
const prefix = "learned: "

// put is the first line of a hook that was not there before.
const put = "# `hookd learn` has put this hook here, and `hookd learn --undo` takes it out.\n"

// Write adds the proposals as rules, with tests, to the hook quiet in a hooks directory, which is
// put there where it is missing. A rule of the same name is replaced. It returns the file.
func Write(hooksDir, home string, list []Proposal) (file string, err error) {
	dir := filepath.Join(hooksDir, Hook)
	file = filepath.Join(dir, hookdir.FileName)
	text, err := readfile.Read(file, hookdir.MaxFileSize)
	mine := errors.Is(err, fs.ErrNotExist)
	if mine {
		text, err = fresh()
	}
	if err != nil {
		return file, fmt.Errorf("read %s: %w", file, err)
	}
	next, err := edited(text, list, home)
	if err != nil {
		return file, fmt.Errorf("write %s: %w", file, err)
	}
	if h, problems := hookdir.ReadText(dir, next, hookdir.Options{Home: home}); h == nil {
		return file, fmt.Errorf("write %s: the rules do not fit into it: %s", file, problems[0].Message)
	}
	if err := replacefile.MkdirAll(dir); err != nil {
		return file, fmt.Errorf("write %s: %w", file, err)
	}
	if !mine && len(Learned(hooksDir)) == 0 {
		if err := replacefile.Write(file+before, text); err != nil {
			return file, fmt.Errorf("write %s: %w", file+before, err)
		}
	}
	if err := replacefile.Write(file, next); err != nil {
		return file, fmt.Errorf("write %s: %w", file, err)
	}
	return file, nil
}

// before ends the name of the copy of a person's hook from before the first rule that was learned.
const before = ".before-learn"

// asBefore returns the copy from before, where a hook without learned rules says the same; else the hook itself.
func asBefore(file string, next []byte) []byte {
	text, err := readfile.Read(file+before, hookdir.MaxFileSize)
	said := func(text []byte) (members map[string]any) {
		if yaml.Unmarshal(text, &members) != nil {
			return nil
		}
		maps.DeleteFunc(members, func(_ string, v any) bool { // a list that learned rules alone were in
			list, is := v.([]any)
			return v == nil || is && len(list) == 0
		})
		return members
	}
	if was := said(text); err == nil && was != nil && reflect.DeepEqual(was, said(next)) {
		return text
	}
	return next
}

// fresh is the hook as the gallery has it, with a first line that says who has put it there.
func fresh() ([]byte, error) {
	text, err := rules.GalleryText(Hook)
	return append([]byte(put), text...), err
}

// Undo takes all learned rules and their tests out of the hook quiet, and the hook itself where
// Write has put it there and no person has changed it since. It returns how many rules there were.
func Undo(hooksDir, home string) (count int, err error) {
	dir := filepath.Join(hooksDir, Hook)
	file := filepath.Join(dir, hookdir.FileName)
	text, err := readfile.Read(file, hookdir.MaxFileSize)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	count = len(learned(&doc, "rules"))
	next, err := edited(text, nil, home)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", file, err)
	}
	if isFresh(next, home) {
		if err := os.Remove(file); err != nil {
			return 0, fmt.Errorf("remove %s: %w", file, err)
		}
		// Other files in it are not hookd's.
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrExist) && !isNotEmpty(dir) {
			return count, fmt.Errorf("remove %s: %w", dir, err)
		}
		return count, nil
	}
	if count+len(learned(&doc, "tests")) == 0 {
		return 0, nil
	}
	if err := replacefile.Write(file, asBefore(file, next)); err != nil {
		return 0, fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Remove(file + before); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return count, fmt.Errorf("remove %s: %w", file+before, err)
	}
	return count, nil
}

// isFresh reports whether a hook, without learned rules, has the text that Write puts where no hook is.
func isFresh(text []byte, home string) bool {
	was, err := fresh()
	if err == nil {
		was, err = edited(was, nil, home)
	}
	return err == nil && bytes.Equal(text, was)
}

func isNotEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}

// read reads the hook quiet in a hooks directory. A hook that cannot be read has nothing.
func read(hooksDir string) *yaml.Node {
	var doc yaml.Node
	text, err := readfile.Read(filepath.Join(hooksDir, Hook, hookdir.FileName), hookdir.MaxFileSize)
	if err != nil || yaml.Unmarshal(text, &doc) != nil {
		return &yaml.Node{}
	}
	return &doc
}

// Learned returns the names of the rules that the hook quiet in a hooks directory has learned.
func Learned(hooksDir string) (names []string) {
	for _, r := range learned(read(hooksDir), "rules") {
		names = append(names, member(r, "name"))
	}
	return names
}

// New returns the proposals for calls that no learned rule of the hook quiet in a hooks directory allows yet. None
// has the name of such a rule: its effects or its projects are others.
func New(hooksDir, home string, list []Proposal) (left []Proposal) {
	rules := learned(read(hooksDir), "rules")
	named := map[string]bool{}
	for _, r := range rules {
		named[member(r, "name")] = true
	}
	for _, p := range list {
		rule := p.rule(home)
		if slices.ContainsFunc(rules, func(r *yaml.Node) bool { return covers(r, rule) }) {
			continue
		}
		for n := 2; named[p.Name]; n++ {
			p.Name = fmt.Sprintf("%s%s %d", prefix, p.Says, n)
		}
		named[p.Name] = true
		left = append(left, p)
	}
	return left
}

// covers reports whether a learned rule allows the same as another, in each of the other's folders.
func covers(rule, other *yaml.Node) bool {
	read := func(n *yaml.Node) (allow map[string]any, in []any) {
		var r struct{ Allow map[string]any }
		if n.Decode(&r) == nil {
			in, _ = r.Allow["cwd"].([]any)
			delete(r.Allow, "cwd")
		}
		return r.Allow, in
	}
	allow, in := read(rule)
	what, where := read(other)
	missing := func(folder any) bool { return !slices.Contains(in, folder) }
	return reflect.DeepEqual(allow, what) && !slices.ContainsFunc(where, missing)
}

// Commands are the words of each command that a rule was learned for, as a test of the hook quiet in a hooks
// directory has it, where it is one command that an agent's own list can take.
func Commands(hooksDir string) (list [][]string) {
	for _, n := range learned(read(hooksDir), "tests") {
		var test struct {
			Expect, Cwd string
			Data        struct{ Command string }
		}
		if n.Decode(&test) != nil || test.Expect != "allow" || test.Data.Command == "" {
			continue
		}
		words := wordsOf(test.Data.Command, test.Cwd)
		known := slices.ContainsFunc(list, func(o []string) bool { return slices.Equal(o, words) })
		if words != nil && !known { // two projects may have the same
			list = append(list, words)
		}
	}
	return list
}

// learned are the elements of a list whose name says that they were learned.
func learned(doc *yaml.Node, list string) (found []*yaml.Node) {
	if n := listOf(doc, list); n != nil {
		for _, item := range n.Content {
			if strings.HasPrefix(member(item, "name"), prefix) {
				found = append(found, item)
			}
		}
	}
	return found
}

// under is the value of a key of a mapping; nil = there is none.
func under(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// listOf is the list under a key of a document; nil = there is none.
func listOf(doc *yaml.Node, key string) *yaml.Node {
	if len(doc.Content) == 0 {
		return nil
	}
	if list := under(doc.Content[0], key); list != nil && list.Kind == yaml.SequenceNode {
		return list
	}
	return nil
}

// withList gives a document an empty list under a key that is not there or has nothing. false = it has something else.
func withList(doc *yaml.Node, key string) bool {
	if listOf(doc, key) != nil {
		return true
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return false
	}
	root := doc.Content[0]
	if at := under(root, key); at != nil {
		was := *at
		*at = yaml.Node{Kind: yaml.SequenceNode}
		return was.Tag == "!!null"
	}
	root.Content = append(root.Content, scalar(key), &yaml.Node{Kind: yaml.SequenceNode})
	return true
}

func member(n *yaml.Node, key string) string {
	if at := under(n, key); at != nil {
		return at.Value
	}
	return ""
}

// edited adds proposals to the text of a hook; with none it takes out all that was learned.
func edited(text []byte, list []Proposal, home string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(list) > 0 && !(withList(&doc, "rules") && withList(&doc, "tests")) {
		return nil, errors.New("its rules or its tests are no list")
	}
	old := func(n *yaml.Node) bool {
		name := member(n, "name")
		return strings.HasPrefix(name, prefix) && (list == nil || slices.ContainsFunc(list, func(p Proposal) bool {
			return name == p.Name || strings.HasPrefix(name, p.Name+" (")
		}))
	}
	allows, tests := listOf(&doc, "rules"), listOf(&doc, "tests")
	for _, n := range []*yaml.Node{allows, tests} {
		if n != nil {
			n.Content = slices.DeleteFunc(n.Content, old)
		}
	}
	for i := range list {
		allows.Content = append(allows.Content, list[i].rule(home))
		tests.Content = append(tests.Content, list[i].tests()...)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// rule is the proposal as a rule of HOOK.yaml.
func (p *Proposal) rule(home string) *yaml.Node {
	var in []*yaml.Node
	for _, root := range p.Roots {
		glob := pattern.Quote(root)
		if rest, ok := strings.CutPrefix(root, home+"/"); ok && home != "" {
			glob = "~/" + pattern.Quote(rest)
		}
		if p.below[root] {
			glob += "/**"
		}
		in = append(in, scalar(glob))
	}
	var what *yaml.Node
	switch {
	case p.shape.Tool != "":
		what = mapping("tool", scalar(p.shape.Tool), "effect", scalar(string(facts.KindWrite)),
			"inside", scalar("project"), "path", sequence(scalar("**"), scalar("!**/.*"), scalar("!**/.*/**")))
	case p.shape.exact():
		what = mapping("command", scalar(p.Says))
	default:
		var kinds, targets []*yaml.Node
		for _, e := range p.shape.Effects {
			if !slices.ContainsFunc(kinds, func(n *yaml.Node) bool { return n.Value == string(e.Kind) }) {
				kinds = append(kinds, scalar(string(e.Kind)))
			}
			if target := pattern.Quote(e.Target); !slices.ContainsFunc(targets, func(n *yaml.Node) bool {
				return n.Value == target
			}) {
				targets = append(targets, scalar(target))
			}
		}
		what = mapping("command", scalar(p.Says), "effect", sequence(kinds...), "target", sequence(targets...))
	}
	what.Content = append(what.Content, scalar("cwd"), sequence(in...))
	why := fmt.Sprintf("you approved it %d times on %d days, and never refused it", p.Yes, p.Days)
	return mapping("name", scalar(p.Name), "allow", what, "why", scalar(why))
}

// tests are those of the rule: a call that was approved, and the same with one behind it that
// destroys.
func (p *Proposal) tests() []*yaml.Node {
	if p.shape.Tool != "" {
		file := filepath.Join(p.Roots[0], "main.go")
		data := mapping("file_path", scalar(file), "old_string", scalar("a"), "new_string", scalar("b"))
		return []*yaml.Node{
			test(p.Name+" (allowed)", p.Roots[0], "allow", p.shape.Tool, data),
			test(p.Name+" (not allowed)", p.Roots[0], "none", p.shape.Tool, mapping("file_path",
				scalar(filepath.Join(p.Roots[0], ".envrc")), "old_string", scalar("a"), "new_string", scalar("b"))),
		}
	}
	line := func(text string) *yaml.Node { return mapping("command", scalar(text)) }
	return []*yaml.Node{
		test(p.Name+" (allowed)", p.sample.cwd, "allow", "", line(p.sample.line)),
		test(p.Name+" (not allowed)", p.sample.cwd, "none", "", line(p.sample.line+"; rm -rf src")),
	}
}

func test(name, cwd, expect, tool string, data *yaml.Node) *yaml.Node {
	n := mapping("name", scalar(name), "cwd", scalar(cwd), "data", data, "expect", scalar(expect))
	if tool != "" {
		n.Content = append(n.Content, scalar("tool"), scalar(tool))
	}
	n.Style = yaml.FlowStyle
	return n
}

func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		n.Content = append(n.Content, scalar(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return n
}

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}
