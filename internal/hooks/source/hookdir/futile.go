package hookdir

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// checkTools warns of tools that no agent has which sends the hook's events. It
// also warns of tools that are only written in another letter case.
func (c checks) checkTools() {
	if c.opt.KnownTools == nil || c.rejected() {
		return
	}
	var agents []AgentTools
	var known []string
	for _, p := range c.hook.Patterns {
		for _, a := range found(&c.opt.once.tools, p.Text, func() []AgentTools { return c.opt.KnownTools(p) }) {
			agents, known = append(agents, a), append(known, a.Tools...)
		}
	}
	if len(known) == 0 {
		return
	}
	if at := c.given["matcher"]; at != nil && c.hook.Matcher != nil {
		for _, word := range alternatives(c.hook.MatcherText) {
			if tool, where, ok := c.otherCase(agents, word); ok && !(where != "" && c.hook.Matcher.MatchString(tool)) {
				c.warn(at, fmt.Sprintf("did you mean `%s`?", tool), "matcher `%s` fits no tool%s: letter case counts", word, where)
			}
		}
		c.checkGlobs(at)
		c.checkLeftOut(at, known)
		if len(c.problems) == 0 && !slices.ContainsFunc(known, c.hook.Matcher.MatchString) && !namesOthers(c.hook) {
			c.warn(at, "hookd events", "matcher `%s` fits no tool that is known", c.hook.MatcherText)
		}
	}
	for _, key := range []string{"filter.tools", "filter.exclude_tools", "when", "rules"} {
		for _, item := range toolNames(c.given[key], strings.HasPrefix(key, "filter.")) {
			if tool, where, ok := c.otherCase(agents, strings.TrimPrefix(item.Value, "!")); ok {
				c.warn(item, fmt.Sprintf("did you mean `%s`?", tool), "%s names `%s`, which is no tool%s: letter case counts", key, item.Value, where)
			}
		}
	}
}

// toolNames returns the names of tools in a node: all its texts where it has names alone, else the texts under `tool`.
func toolNames(n *yaml.Node, names bool) (found []*yaml.Node) {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode && names {
		return []*yaml.Node{n}
	}
	for i, item := range n.Content {
		if n.Kind == yaml.MappingNode {
			names = i%2 == 1 && n.Content[i-1].Value == "tool"
		}
		found = append(found, toolNames(item, names)...)
	}
	return found
}

// globStar is a star that means "anything", and repeats the letter before it in a regular expression.
var globStar = regexp.MustCompile(`([A-Za-z0-9_-])\*`)

// checkGlobs warns of words of the matcher that are written like globs, as mcp__*, and do not fit as such.
func (c checks) checkGlobs(at *yaml.Node) {
	for word := range strings.SplitSeq(strings.Trim(c.hook.MatcherText, "^$()"), "|") {
		if strings.ContainsAny(word, `.[(\+?{`) || !globStar.MatchString(word) {
			continue
		}
		anything := "File"
		if strings.HasPrefix(word, "mcp") {
			anything = "server__tool"
		}
		meant := globStar.ReplaceAllString(word, "${1}"+anything)
		if !c.hook.Matcher.MatchString(meant) {
			c.warn(at, fmt.Sprintf("did you mean `%s`?", globStar.ReplaceAllString(word, "${1}.*")),
				"matcher `%s` is a regular expression, not a glob: it does not fit `%s`", word, meant)
		}
	}
}

// checkLeftOut warns of a guard of files that one way to change them goes past.
func (c checks) checkLeftOut(at *yaml.Node, known []string) {
	fits := c.hook.Matcher.MatchString
	const other = "NotebookEdit"
	if !fits("Write") || !fits("Edit") || fits(other) || !slices.Contains(known, other) || !c.hook.DecidesByName() ||
		!slices.ContainsFunc(c.hook.Patterns, closes) || slices.Contains(c.hook.Filter.ExcludeTools, other) {
		return
	}
	c.warn(at, fmt.Sprintf("add `|%s`, or filter.exclude_tools to say that it is meant", other),
		"matcher `%s` has Write and Edit, and leaves out %s, which changes files, too", c.hook.MatcherText, other)
}

// namesOthers reports whether the matcher may be meant for tools that no table has: of
// MCP servers, whose names have two underscores.
func namesOthers(h *hook.Hook) bool {
	return strings.Contains(h.MatcherText, "mcp") || strings.Contains(h.MatcherText, "__")
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// alternatives are the plain words of a regular expression such as Bash|Write.
func alternatives(text string) (words []string) {
	for word := range strings.SplitSeq(strings.Trim(text, "^$()"), "|") {
		if plainWord.MatchString(word) {
			words = append(words, word)
		}
	}
	return words
}

// AgentTools are the tools of one agent, own and canonical.
type AgentTools struct {
	Agent string
	Tools []string
}

// otherCase returns the tool that a name is in another letter case, and whose: "" = that
// of each agent that has it. ok is false where the name is that of a tool itself, of each
// agent that has such a tool or of the agents that the hook is for.
func (c checks) otherCase(agents []AgentTools, name string) (tool, where string, ok bool) {
	exact, whose := false, []string(nil)
	for _, a := range agents {
		same := func(k string) bool { return strings.EqualFold(k, name) }
		if slices.Contains(a.Tools, name) {
			exact = true
		} else if at := slices.IndexFunc(a.Tools, same); at >= 0 && !slices.Contains(whose, a.Agent) {
			tool, whose = cmp.Or(tool, a.Tools[at]), append(whose, a.Agent)
		}
	}
	if exact {
		where = " of " + strings.Join(whose, ", ")
	}
	return tool, where, tool != "" && !(exact && len(c.hook.Filter.Agents) > 0)
}

// denies is how a program looks that means to deny.
var denies = regexp.MustCompile(
	`\bexit[ (]+2\b|permission_?[dD]ecision|["'](?:block|deny)["']|\\"(?:block|deny)\\"`)

// mostProgram is how much of a program is looked at for that, in bytes.
const mostProgram = 64 << 10

// checkWildcard warns of a hook that means to deny and only observes, as its pattern has
// a wildcard.
func (c checks) checkWildcard() {
	if c.given["blocking"] != nil || c.rejected() {
		return
	}
	i := slices.IndexFunc(c.hook.Patterns, func(p pattern.Pattern) bool { return !p.Exact() && closes(p) })
	if i < 0 || slices.ContainsFunc(c.hook.Patterns, pattern.Pattern.Exact) || !meansToDeny(c.hook) {
		return
	}
	c.warn(c.given["events"], "write `blocking: true`, or the events one by one",
		"`%s` has a wildcard, so the hook only observes: what it denies is not denied", c.hook.Patterns[i].Text)
}

// closes reports whether a pattern matches an event that can be denied.
func closes(p pattern.Pattern) bool {
	for c := range events.Rows() {
		if c.FailClosed && p.Match(c.Name) {
			return true
		}
	}
	return false
}

// meansToDeny looks for a denial in the hook's program and its expected answers.
func meansToDeny(h *hook.Hook) bool {
	if h.Shadow || h.OnError == hook.OnErrorDeny ||
		slices.ContainsFunc(h.Tests, func(t hook.Test) bool { return t.Expect != hook.ExpectNone }) {
		return true
	}
	if h.Type == hook.Script {
		return denies.MatchString(h.ScriptText)
	}
	if h.Type != hook.Command || !strings.HasPrefix(h.Path, h.Dir+"/") {
		return false
	}
	text, err := readfile.Head(h.Path, mostProgram) // what cannot be read is told elsewhere
	return err == nil && denies.Match(text)
}
