package rules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// Problem is a fault of a rule, at its place in the file.
type Problem struct {
	Line, Column  int
	Message, Hint string
}

// Options of reading rules.
type Options struct {
	Home string // what ~ means in a path; "" = ~ stays
	File string // that the rules stand in
}

// dataPrefix begins the members of a matcher that look into the event's data.
const dataPrefix = "data."

var (
	ruleKeys = []string{
		"deny", "ask", "contain", "rewrite", "context", "allow",
		"name", "why", "instead", "to", "profile", "unless", "after", "catches", "passes", "off",
	}
	matcherKeys = []string{
		"command", "program", "effect", "path", "host", "target", "outside", "inside", "emptied", "undoable", "doubt",
		"tool", "cwd",
		"prompt", "said", "branch", dataPrefix + "PATH",
	}
	// likeKeys are the keys of a decision about events before that fit it, too; earlierKeys are the keys
	// of `unless` and `after` about their own events.
	likeKeys    = []string{"count", "within", "since", "by", "same", "other_session", "fetched", "lasted"}
	earlierKeys = []string{"ran", "ok", "count", "within", "since", "by"}
)

// reader reads one list of rules.
type reader struct {
	opt      Options
	problems []Problem
}

func (p *reader) reject(at *yaml.Node, hint, format string, args ...any) {
	p.problems = append(p.problems, Problem{at.Line, at.Column, fmt.Sprintf(format, args...), hint})
}

// Read reads a list of rules and puts them behind those of before. A rule with the name of
// an earlier one changes it: each member that it gives takes the place of the earlier one's,
// and `off: true` removes it. before is not changed, and may be nil.
func Read(n *yaml.Node, before *Set, opt Options) (*Set, []Problem) {
	p := &reader{opt: opt}
	set := &Set{}
	if before != nil {
		set.Rules, set.Files = slices.Clone(before.Rules), slices.Clone(before.Files)
	}
	if n = yamlnode.Resolve(n); n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.reject(n, "write a list, such as `- deny: git push * main`", "rules must be a list of rules, is %s", kind(n))
		return set, p.problems
	}
	for _, item := range n.Content {
		p.rule(set, yamlnode.Resolve(item))
	}
	return set, p.problems
}

// rule reads one rule into the set.
func (p *reader) rule(set *Set, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.reject(n, "write one of deny, ask, contain, rewrite, context, allow", "a rule must be a mapping, is %s", kind(n))
		return
	}
	members, ok := p.members(n, "a rule", ruleKeys)
	if !ok {
		return
	}
	r := &Rule{File: p.opt.File, Line: n.Line, Column: n.Column}
	var earlier *Rule
	if at := members["name"]; at != nil {
		r.Name = p.text(at, "name")
		if earlier = set.Rule(r.Name); earlier != nil {
			changed := *earlier
			changed.File, changed.Line, changed.Column = r.File, r.Line, r.Column
			r = &changed
		}
	}
	if at := members["off"]; at != nil {
		if off, err := strconv.ParseBool(at.Value); err != nil || !off || earlier == nil || len(members) != 2 {
			p.reject(at, "write `- {name: NAME, off: true}` with the name of an earlier rule",
				"off removes a rule that stands before")
			return
		}
		set.Rules = slices.DeleteFunc(set.Rules, func(r *Rule) bool { return r == earlier })
		return
	}
	before := len(p.problems)
	p.decision(r, n, members)
	p.texts(r, n, members)
	if len(p.problems) > before {
		return
	}
	if r.Name == "" {
		r.Name = p.freeName(set, r)
	}
	if earlier == nil {
		set.Rules = append(set.Rules, r)
		return
	}
	set.Rules[slices.Index(set.Rules, earlier)] = r
}

// freeName names a rule after its text.
func (p *reader) freeName(set *Set, r *Rule) string {
	name := shortened(string(r.Action) + " " + r.What.Text)
	for i := 2; set.Rule(name) != nil; i++ {
		name = shortened(string(r.Action)+" "+r.What.Text) + " " + strconv.Itoa(i)
	}
	return name
}

// decision reads the one member that is a decision, with its matcher, `unless` and `after`.
func (p *reader) decision(r *Rule, n *yaml.Node, members map[string]*yaml.Node) {
	var given []string
	for _, d := range Actions {
		if at := members[string(d)]; at != nil {
			given = append(given, string(d))
			var past *Past
			r.Action = d
			r.What, past = p.condition(at, string(d), likeKeys)
			r.Past = slices.DeleteFunc(slices.Clone(r.Past), func(n Needed) bool { return n.own })
			if past != nil {
				p.alike(at, past, &r.What)
				past.key = "own " + past.key // `after` with the same text needs one more
				if past.Count--; past.Count > 0 || past.Lasted > 0 {
					r.Past = append(r.Past, Needed{Past: past, own: true})
				}
			}
		}
	}
	switch {
	case len(given) > 1:
		p.reject(n, "write a rule for each", "a rule has one decision, not %s", strings.Join(given, " and "))
	case r.Action == "":
		p.reject(n, "", "a rule must have one of deny, ask, contain, rewrite, context, allow")
	}
	r.What.Wholly = r.Action == Allow
	for _, key := range []string{"unless", "after"} {
		at := members[key]
		if at == nil {
			continue
		}
		not := key == "unless"
		m, past := p.condition(at, key, earlierKeys)
		r.Past = slices.DeleteFunc(slices.Clone(r.Past), func(n Needed) bool { return !n.own && n.Not == not })
		if past == nil && not {
			m.Wholly, m.Named, r.Unless = true, true, &m
			continue
		}
		if past == nil {
			past = p.newPast(at)
		}
		if past.What = m; not {
			r.Unless = nil
		}
		r.Past = append(r.Past, Needed{Past: past, Not: not})
	}
	for i, n := range r.Past { // what the rule leaves alone does not count for it
		if n.own && r.Unless != nil {
			past := *n.Past
			past.Except = r.Unless
			past.counts += "unless " + r.Unless.exact
			past.key += "unless " + r.Unless.exact
			r.Past[i].Past = &past
		}
	}
	if r.Action == Allow && slices.ContainsFunc(r.Past, func(n Needed) bool { return n.own }) {
		p.reject(n, "", "allow has no count")
	}
}

// alike completes a Past of events that are like the event that a rule is about.
func (p *reader) alike(n *yaml.Node, past *Past, what *Matcher) {
	past.What = *what
	switch {
	case past.Lasted > 0:
		if past.Count > 0 || past.Same != "" || past.Other || past.Fetched || past.Since != "" || past.Within > 0 {
			p.reject(n, "write a rule for each", "lasted stands alone: it is about the session, not about calls")
		}
	case past.Other, past.Fetched:
		if past.Same != "" || past.Other && past.Fetched {
			p.reject(n, "write a rule for each", "other_session, fetched and same cannot stand together")
		}
		past.Count = max(past.Count, 1) + 1
	case past.Count == 0:
		p.reject(n, "write `count: 5`", "within, since, by and same need a count")
	}
	if (past.Same != "" || past.Other || past.Fetched) && past.By != BySession {
		p.reject(n, "", "by does not go with same, other_session and fetched")
	}
	if past.Same == SameFailure {
		past.Count++ // so many have failed before
	}
}

// newPast returns a Past of which only its place is known.
func (p *reader) newPast(n *yaml.Node) *Past {
	past := &Past{Count: 1, By: BySession}
	past.name(p.opt.Home, n)
	return past
}

// name makes the keys of a Past from its text.
func (p *Past) name(home string, n *yaml.Node) {
	about := ""
	if n = yamlnode.Resolve(n); n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key := n.Content[i].Value; key {
			case "count", "within", "since", "same", "other_session", "fetched", "lasted":
			default:
				about += key + " " + exactly(n.Content[i+1]) + "\n"
			}
		}
	} else {
		about = "command " + exactly(n) + "\n"
	}
	p.counts = home + "\n" + about
	p.key = home + "\n" + exactly(n)
}

// exactly is a value as a text that no other value has.
func exactly(n *yaml.Node) string {
	if n = yamlnode.Resolve(n); n.Kind == yaml.ScalarNode {
		return strconv.Quote(n.Value)
	}
	var parts []string
	for _, item := range n.Content {
		parts = append(parts, exactly(item))
	}
	return fmt.Sprint(n.Kind, "(", strings.Join(parts, " "), ")")
}

// texts reads the members that are texts, and examples.
func (p *reader) texts(r *Rule, n *yaml.Node, members map[string]*yaml.Node) {
	for key, to := range map[string]*string{"why": &r.Why, "instead": &r.Instead, "to": &r.To, "profile": &r.Profile} {
		if at := members[key]; at != nil {
			*to = p.text(at, key)
		}
	}
	if at := members["catches"]; at != nil {
		r.Catches = p.examples(at, "catches")
	}
	if at := members["passes"]; at != nil {
		r.Passes = p.examples(at, "passes")
	}
	switch {
	case r.Action == Rewrite && r.To == "":
		p.reject(n, "write `to: npm ci`", "a rewrite must say `to` what")
	case r.Action != Rewrite && r.To != "":
		p.reject(members["to"], "", "`to` is for a rewrite")
	case r.Action == Rewrite && (len(r.What.Commands) == 0 || r.What.looksAtEffects()):
		p.reject(n, "write `rewrite: npm install`", "a rewrite is of a command")
	case r.Action != Contain && r.Profile != "":
		p.reject(members["profile"], "", "`profile` is for contain")
	case r.Action == Context && r.Why == "":
		p.reject(n, "write `why:`", "context needs `why`, the text for the model")
	}
	if r.Why == "" {
		r.Why = string(r.Action) + " " + r.What.Text + " is a rule of this machine"
	}
}

// condition reads a command pattern, a list of them, or a mapping, which may have keys about
// earlier events: then past is not nil.
func (p *reader) condition(n *yaml.Node, what string, pastKeys []string) (m Matcher, past *Past) {
	n = yamlnode.Resolve(n)
	if m.Text, m.exact = textOf(n), exactly(n); n.Kind != yaml.MappingNode {
		m.Commands = p.commands(n, what)
		m.gate = m.needs()
		return m, nil
	}
	known := slices.Concat(matcherKeys, pastKeys)
	members, ok := p.members(n, what, known)
	if ok && len(members) == 0 {
		p.reject(n, "it may have "+strings.Join(known, ", "), "%s is empty: it would fit everything", what)
	}
	if members["ran"] != nil && members["command"] != nil {
		p.reject(members["ran"], "write one list of commands", "ran and command cannot stand together in %s", what)
	}
	for key, at := range members {
		if !slices.Contains(pastKeys, key) {
			p.member(&m, key, at)
			continue
		}
		if past == nil {
			past = p.newPast(n)
			if past.Count = 0; what == "unless" || what == "after" {
				past.Count = 1
			}
		}
		p.past(past, &m, key, at)
	}
	m.gate = m.needs()
	slices.SortFunc(m.Data, func(a, b DataChoice) int { return slices.Compare(a.Path, b.Path) })
	if past != nil && (what == "unless" || what == "after") {
		p.earlier(n, past, &m)
	}
	return m, past
}

// earlier checks the members of `unless` or `after` about earlier events.
func (p *reader) earlier(n *yaml.Node, past *Past, m *Matcher) {
	switch {
	case past.OK != nil && len(m.Prompts) > 0:
		p.reject(n, "", "a prompt does not succeed or fail: `ok` is about calls")
	case len(m.Said) > 0:
		p.reject(n, "", "`said` is about the end of a turn, not about earlier calls")
	}
}

// past reads a member about earlier events.
func (p *reader) past(past *Past, m *Matcher, key string, at *yaml.Node) {
	switch key {
	case "ran":
		m.Commands = p.commands(at, key)
	case "ok":
		past.OK = p.yesOrNo(at, key)
	case "other_session":
		if other := p.yesOrNo(at, key); other != nil {
			past.Other = *other
		}
	case "fetched":
		if fetched := p.yesOrNo(at, key); fetched != nil {
			past.Fetched = *fetched
		}
	case "count":
		if n, err := strconv.Atoi(at.Value); err == nil && n >= 1 && n <= 10_000 {
			past.Count = n
		} else {
			p.reject(at, "write a number from 1 to 10000", "bad count %q", at.Value)
		}
	case "within":
		past.shorten(p.time(at, key))
	case "lasted":
		past.Lasted = p.time(at, key)
	case "since":
		if b := Boundary(at.Value); slices.Contains(Boundaries, b) {
			past.Since = b
		} else if d, err := duration.Parse(at.Value); err == nil && d > 0 {
			past.shorten(p.time(at, key))
		} else {
			p.reject(at, "write edit, prompt, start or a time such as 10m", "bad since %q", at.Value)
		}
	case "by":
		if list := words(p, at, key, Scopes); len(list) == 1 {
			past.By = list[0]
		} else if len(list) > 1 {
			p.reject(at, "", "by is one of session, agent, machine")
		}
	case "same":
		if list := words(p, at, key, Sames); len(list) == 1 {
			past.Same = list[0]
		} else if len(list) > 1 {
			p.reject(at, "", "same is one of call, command, path, failure")
		}
	}
}

// shorten makes Within at most d: `since` may give a time, too.
func (p *Past) shorten(d time.Duration) {
	if p.Within == 0 || d < p.Within {
		p.Within = d
	}
}

func (p *reader) yesOrNo(at *yaml.Node, key string) *bool {
	b, err := strconv.ParseBool(at.Value)
	if err != nil {
		p.reject(at, "write true or false", "bad %s %q", key, at.Value)
		return nil
	}
	return &b
}

func (p *reader) time(at *yaml.Node, key string) time.Duration {
	d, err := duration.Parse(at.Value)
	if err != nil || d <= 0 || d > 24*time.Hour {
		p.reject(at, "write a time of at most 24h, such as 10m", "bad %s %q", key, at.Value)
		return 0
	}
	return d
}

func (p *reader) member(m *Matcher, key string, at *yaml.Node) {
	switch key {
	case "command":
		m.Commands = p.commands(at, key)
	case "program":
		m.Programs = p.choice(at, key, nil)
	case "effect":
		m.Effects = words(p, at, key, facts.Kinds)
	case "path":
		m.Paths = p.choice(at, key, p.wherever, '/')
	case "host":
		m.Hosts = p.choice(at, key, facts.InASCII)
	case "target":
		m.Targets = p.choice(at, key, nil)
	case "outside":
		m.Outside = words(p, at, key, Places)
	case "inside":
		m.Inside = words(p, at, key, Places)
	case "emptied":
		if m.Emptied = at.Value == "true"; !m.Emptied {
			p.reject(at, "write `emptied: true`", "emptied is true, or is not there")
		}
	case "undoable":
		if m.Undoable = at.Value; m.Undoable != "true" && m.Undoable != "false" {
			p.reject(at, "write `undoable: false`", "undoable is true or false")
		}
	case "doubt":
		if m.Doubts = []facts.DoubtKind{}; at.Value != "any" || at.Kind != yaml.ScalarNode {
			m.Doubts = words(p, at, key, facts.DoubtKinds)
		}
	case "tool":
		m.Tools = p.choice(at, key, nil)
	case "cwd":
		m.Cwd = p.choice(at, key, p.wherever, '/')
	case "prompt":
		m.Prompts = p.expressions(at, key)
	case "said":
		m.Said = p.expressions(at, key)
	case "branch":
		m.Branches = p.choice(at, key, nil)
	default:
		c := DataChoice{strings.Split(strings.TrimPrefix(key, dataPrefix), "."), p.choice(at, key, nil)}
		m.Data = append(m.Data, c)
	}
}

func (p *reader) commands(n *yaml.Node, what string) (list []facts.CommandPattern) {
	for _, item := range p.items(n, what) {
		c, err := facts.ParsePattern(item.Value)
		if err != nil {
			p.reject(
				item,
				"write a program and the words behind it, such as git push",
				"bad %s %q: %v",
				what,
				item.Value,
				err,
			)
			continue
		}
		list = append(list, c)
	}
	return list
}

// choice reads globs, of which those after `!` must not fit. known makes a glob of the
// written text; nil = the text is one.
func (p *reader) choice(n *yaml.Node, what string, known func(string) string, separators ...rune) (c Choice) {
	for _, item := range p.items(n, what) {
		text, no := strings.CutPrefix(item.Value, "!")
		glob := text
		if known != nil {
			glob = known(text)
		}
		f, err := pattern.CompileFold(glob, separators...)
		if f.Text = text; err != nil {
			p.reject(item, "", "bad %s %q: %v", what, item.Value, err)
			continue
		}
		if no {
			c.No = append(c.No, f)
		} else {
			c.Yes = append(c.Yes, f)
		}
	}
	return c
}

func (p *reader) expressions(n *yaml.Node, what string) (list []*regexp.Regexp) {
	for _, item := range p.items(n, what) {
		re, err := regexp.Compile(item.Value)
		if err != nil {
			p.reject(item, "", "bad %s %q: %v", what, item.Value, err)
			continue
		}
		list = append(list, re)
	}
	return list
}

// wherever is the glob of a path as it is held against absolute ones: ~ is the user's home,
// and a path that does not begin at the root may lie in any folder. A / at the end is a folder with all in it.
func (p *reader) wherever(text string) string {
	if strings.HasSuffix(text, "/") && text != "/" {
		text += "**"
	}
	switch {
	case text == "~" && p.opt.Home != "":
		return pattern.Quote(p.opt.Home)
	case strings.HasPrefix(text, "~/") && p.opt.Home != "":
		return pattern.Quote(p.opt.Home) + text[1:]
	case strings.HasPrefix(text, "~"):
		return text
	}
	if text = strings.TrimPrefix(text, "./"); strings.HasPrefix(text, "/") || strings.HasPrefix(text, "**") {
		return text
	}
	return "{/,/**/}" + text
}

// words reads words of a known list.
func words[T ~string](p *reader, n *yaml.Node, what string, known []T) (list []T) {
	var names []string
	for _, k := range known {
		names = append(names, string(k))
	}
	for _, item := range p.items(n, what) {
		if slices.Contains(names, item.Value) {
			list = append(list, T(item.Value))
			continue
		}
		p.reject(
			item,
			"it is one of "+strings.Join(names, ", "),
			"unknown %s `%s`%s",
			what,
			item.Value,
			spell.DidYouMean(item.Value, names),
		)
	}
	return list
}

// examples reads calls: shell lines, or maps of a tool and its arguments.
func (p *reader) examples(n *yaml.Node, what string) (list []Example) {
	items := []*yaml.Node{yamlnode.Resolve(n)}
	if items[0].Kind == yaml.SequenceNode {
		items = items[0].Content
	}
	for _, item := range items {
		item = yamlnode.Resolve(item)
		e := Example{Tool: "Bash", Text: textOf(item)}
		switch item.Kind {
		case yaml.ScalarNode:
			e.Data, _ = json.Marshal(map[string]string{"command": item.Value}) // texts always encode
		case yaml.MappingNode:
			var call struct {
				Tool string
				Data map[string]any
			}
			if err := item.Decode(&call); err != nil || call.Tool == "" || call.Data == nil {
				p.reject(
					item,
					"write {tool: Write, data: {file_path: …}}",
					"an example of %s is a line, or a tool with data",
					what,
				)
				continue
			}
			data, err := json.Marshal(call.Data)
			if err != nil {
				p.reject(item, "keys must be texts", "the data of an example is no JSON: %v", err)
				continue
			}
			e.Tool, e.Data = call.Tool, data
		default:
			p.reject(item, "", "an example of %s must be a line or a mapping, is %s", what, kind(item))
			continue
		}
		list = append(list, e)
	}
	return list
}

// members returns the members of a mapping by key. ok is false after a problem.
func (p *reader) members(n *yaml.Node, what string, known []string) (members map[string]*yaml.Node, ok bool) {
	members, ok = map[string]*yaml.Node{}, true
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], yamlnode.Resolve(n.Content[i+1])
		data, ofData := strings.CutPrefix(key.Value, dataPrefix)
		isKnown := slices.Contains(known, key.Value) && key.Value != dataPrefix+"PATH" ||
			ofData && data != "" && slices.Contains(known, dataPrefix+"PATH")
		switch {
		case !isKnown:
			p.reject(
				key,
				"it may have "+strings.Join(known, ", "),
				"unknown key `%s` in %s%s",
				key.Value,
				what,
				spell.DidYouMean(key.Value, known),
			)
			ok = false
		case members[key.Value] != nil:
			p.reject(key, "", "duplicate key `%s` in %s", key.Value, what)
			ok = false
		case kind(value) == "nothing":
			p.reject(value, "", "`%s` in %s has no value", key.Value, what)
			ok = false
		default:
			members[key.Value] = value
		}
	}
	return members, ok
}

// items returns the texts of a value that is a text, or a list of them. Numbers and bools
// count as they are written.
func (p *reader) items(n *yaml.Node, what string) (list []*yaml.Node) {
	n = yamlnode.Resolve(n)
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		p.reject(n, "", "%s is empty", what)
	}
	for _, item := range items {
		if item = yamlnode.Resolve(item); item.Kind != yaml.ScalarNode || yamlnode.IsNull(item) || item.Value == "" {
			p.reject(item, "", "%s must be a string or a list of strings, is %s", what, kind(item))
			continue
		}
		list = append(list, item)
	}
	return list
}

func (p *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" {
		p.reject(n, "", "%s must be a string, is %s", what, kind(n))
	}
	return strings.TrimSpace(n.Value)
}

// textOf is a value as it is written, on one line.
func textOf(n *yaml.Node) string {
	n = yamlnode.Resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		var parts []string
		for _, item := range n.Content {
			parts = append(parts, textOf(item))
		}
		return strings.Join(parts, " or ")
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+textOf(n.Content[i+1]))
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// kind names the sort of a node, for people.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case n.ShortTag() == "!!bool":
		return "a bool"
	case n.ShortTag() == "!!int" || n.ShortTag() == "!!float":
		return "a number"
	}
	return "a string"
}
