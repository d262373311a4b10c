package hook

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
)

// Subject has the parts of an event that a hook's matcher and filter look at.
type Subject struct {
	Tools     []string // names of the event's tool: the agent's own, then canonical ones; none when it has no tool
	Cwd       string   // "" = unknown
	AgentName string
	Dialect   string
}

// AsksForTool reports whether Admits reads Subject.Tools.
func (h *Hook) AsksForTool() bool {
	return h.Matcher != nil || len(h.Filter.Tools)+len(h.Filter.ExcludeTools) > 0
}

// Admits reports whether the hook's matcher and filter admit s; if not, why is the
// reason for people. All filters that are set must match, an exclusion wins, and tool
// filters do not match events without a tool.
func (h *Hook) Admits(s Subject) (why string, ok bool) {
	if h.Matcher != nil && !h.matches(s.Tools) {
		return "matcher " + strconv.Quote(h.MatcherText) + " does not match tool " + quoted(s.Tools), false
	}
	f := h.Filter
	switch {
	case len(f.Tools)+len(f.ExcludeTools) > 0 && len(s.Tools) == 0:
		return "it filters by tool and the event has none", false
	case share(f.ExcludeTools, s.Tools):
		return "filter.exclude_tools names tool " + quoted(s.Tools), false
	case len(f.Tools) > 0 && !share(f.Tools, s.Tools):
		return "filter.tools does not name tool " + quoted(s.Tools), false
	case len(f.Workspaces) > 0 && !inWorkspace(f.Workspaces, s.Cwd):
		return "filter.workspaces does not match cwd " + strconv.Quote(s.Cwd), false
	case len(f.Agents) > 0 && !matchesAny(f.Agents, s.AgentName) && !matchesAny(f.Agents, s.Dialect):
		return "filter.agents matches neither agent " + strconv.Quote(s.AgentName) +
			" nor dialect " + strconv.Quote(s.Dialect), false
	}
	return "", true
}

// matches holds the matcher against each name; an event without a tool is held
// against the empty one, as docker-agent does.
func (h *Hook) matches(tools []string) bool {
	if len(tools) == 0 {
		return h.Matcher.MatchString("")
	}
	return slices.ContainsFunc(tools, h.Matcher.MatchString)
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// quoted lists a tool's names for people.
func quoted(tools []string) string {
	if len(tools) == 0 {
		return strconv.Quote("")
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = strconv.Quote(t)
	}
	return strings.Join(names, " or ")
}

// inWorkspace reports whether cwd or a folder above it matches.
func inWorkspace(patterns []pattern.Pattern, cwd string) bool {
	if cwd == "" {
		return false
	}
	for dir := path.Clean(cwd); ; dir = path.Dir(dir) {
		if matchesAny(patterns, dir) {
			return true
		}
		if dir == "/" || dir == "." {
			return false
		}
	}
}

func matchesAny(patterns []pattern.Pattern, s string) bool {
	return slices.ContainsFunc(patterns, func(p pattern.Pattern) bool { return s != "" && p.Match(s) })
}
