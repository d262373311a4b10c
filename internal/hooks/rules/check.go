package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
)

// Warning is a seeming mistake in a rule that can be read.
type Warning struct {
	Rule          *Rule
	Message, Hint string
}

// sampleEnv is the Env of lines that no agent has sent.
var sampleEnv = facts.Env{Cwd: "/home/me/project", Home: "/home/me"}

// Check says which rules never fit, fit every call, are hidden by an earlier rule, or
// contradict one. It is sure of its warnings, and does not find everything.
func (s *Set) Check() (list []Warning) {
	warn := func(r *Rule, hint, format string, args ...any) {
		list = append(list, Warning{r, fmt.Sprintf(format, args...), hint})
	}
	for i, r := range s.Rules {
		if why := r.What.never(); why != "" {
			warn(r, "", "rule `%s` never fits: %s", r.Name, why)
			continue
		}
		for _, bad := range r.wrongExamples() {
			warn(r, "", "rule `%s` %s", r.Name, bad)
		}
		for _, n := range r.Past {
			if why := n.never(); why != "" {
				warn(r, "", "rule `%s` never fits: %s", r.Name, why)
			}
		}
		if r.Unless != nil && r.Unless.Text == r.What.Text {
			warn(r, "", "rule `%s` never fits: `unless` leaves out all that it fits", r.Name)
		}
		if r.What.always() && r.Unless == nil && len(r.Past) == 0 {
			warn(r, "name a command, an effect or a tool", "rule `%s` fits every call", r.Name)
		}
		for _, earlier := range s.Rules[:i] {
			switch {
			case earlier.What.Text == r.What.Text && earlier.Action != r.Action && earlier.Unless == nil &&
				r.Unless == nil && len(earlier.Past)+len(r.Past) == 0:
				warn(r, "remove one of the two", "rule `%s` contradicts `%s`: both are about %s", r.Name,
					earlier.Name, r.What.Text)
			case earlier.hides(r):
				warn(r, "", "rule `%s` never decides: `%s` fits all that it fits", r.Name, earlier.Name)
			}
		}
	}
	s.checkPast(warn)
	return list
}

// never says why a matcher fits no call; "" = it may.
func (m *Matcher) never() string {
	ofFiles := []facts.EffectKind{
		facts.KindRead, facts.KindWrite, facts.KindDelete, facts.KindMove, facts.KindConfigure, facts.KindGuard,
		facts.KindSecret,
		facts.KindRun, facts.KindConnect, facts.KindInstall,
	}
	ofHosts := []facts.EffectKind{facts.KindConnect, facts.KindSend, facts.KindPublish, facts.KindInstall,
		facts.KindRun, facts.KindHistory}
	lacks := func(kinds []facts.EffectKind) bool {
		return len(m.Effects) > 0 && !slices.ContainsFunc(m.Effects,
			func(k facts.EffectKind) bool { return slices.Contains(kinds, k) })
	}
	switch {
	case m.Hosts.given() && (m.Paths.given() || len(m.Inside)+len(m.Outside) > 0):
		return "a target is a host or a file"
	case m.Hosts.given() && lacks(ofHosts):
		return "none of its effects has a host"
	case (m.Paths.given() || len(m.Inside)+len(m.Outside) > 0) && lacks(ofFiles):
		return "none of its effects has a file"
	case slices.ContainsFunc(m.Inside, func(p FolderWord) bool { return slices.Contains(m.Outside, p) }):
		return "a file is not inside and outside of the same place"
	}
	return ""
}

// never says why a condition on earlier events never fits; "" = it may.
func (n Needed) never() string {
	why := n.What.never()
	lacks := func(kinds ...facts.EffectKind) bool {
		return len(n.What.Effects) > 0 && !slices.ContainsFunc(n.What.Effects,
			func(k facts.EffectKind) bool { return slices.Contains(kinds, k) })
	}
	switch {
	case n.Not: // then the rule always does
		return ""
	case why != "":
		return "before it, " + why
	case (n.Same == SamePath || n.Other) && lacks(facts.KindWrite, facts.KindDelete, facts.KindMove):
		return "`same: path` and `other_session` are about edits: effect write, delete or move"
	case n.Fetched && lacks(facts.KindRun, facts.KindInstall):
		return "`fetched` is about files that run: effect run or install"
	case n.Same != "" && n.Same != SamePath && n.Count >= mostLike:
		return fmt.Sprintf("only the last %d calls are compared", mostLike)
	case (n.Same == SamePath || n.Other) && n.Count >= mostEdits:
		return fmt.Sprintf("only the last %d edits are compared", mostEdits)
	}
	return ""
}

// always reports whether a matcher fits each call.
func (m *Matcher) always() bool {
	anyTool := len(m.Tools.No) == 0 && slices.ContainsFunc(m.Tools.Yes,
		func(f pattern.Fold) bool { return f.Text == "*" || f.Text == "**" })
	return (!m.Tools.given() || anyTool) && !m.looksAtCall() && !m.Branches.given() &&
		len(m.Prompts)+len(m.Said)+len(m.Data) == 0
}

// hides reports whether an earlier rule, whatever happened before, decides as strictly or stricter in place of
// a later one.
func (r *Rule) hides(later *Rule) bool {
	return len(r.Past) == 0 && r.What.exact != later.What.exact && r.covers(later)
}

// covers reports whether a rule that is as strict or stricter fits each command that another is about.
func (r *Rule) covers(later *Rule) bool {
	if rank(r.Action) > rank(later.Action) || r.Unless != nil || later.Action == Rewrite ||
		later.Action == Context ||
		r.Action == Context || r.Action == Rewrite || r.Action == Allow {
		return false
	}
	m, of := &r.What, &later.What
	if m.exact == of.exact {
		return true
	}
	if len(m.Commands) == 0 || len(of.Commands) == 0 || m.looksAtEffects() || m.Doubts != nil || m.Tools.given() ||
		m.Programs.given() || len(m.Data) > 0 || len(m.Said) > 0 || m.Branches.given() {
		return false
	}
	for _, p := range of.Commands {
		line := strings.ReplaceAll(p.Text, "*", "example")
		f := facts.Line(line, sampleEnv)
		if len(f.Commands) != 1 || !slices.ContainsFunc(m.Commands, func(e facts.CommandPattern) bool {
			return e.Fit(&f.Commands[0]) == facts.Sure
		}) {
			return false
		}
	}
	return true
}

// wrongExamples says which examples of a rule it does not treat as they say.
func (r *Rule) wrongExamples() (list []string) {
	if len(r.Past) > 0 {
		return nil
	}
	only := &Set{Rules: []*Rule{r}}
	fits := func(e Example) bool {
		call := neutral.ToolCall{Own: e.Tool, Tool: e.Tool, Input: e.Data, Given: e.Data}
		return only.Judge(&Subject{
			Facts: facts.Read(call, sampleEnv), Tools: []string{e.Tool}, Cwd: sampleEnv.Cwd, Project: sampleEnv.Cwd,
			Home: sampleEnv.Home, Read: func(line string) *facts.Facts { return facts.Line(line, sampleEnv) },
		}).Rule != nil
	}
	for _, e := range r.Catches {
		if !fits(e) {
			list = append(list, "does not catch its example: "+e.Text)
		}
	}
	for _, e := range r.Passes {
		if fits(e) {
			list = append(list, "does not let its example pass: "+e.Text)
		}
	}
	return list
}
