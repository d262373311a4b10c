package hook

import (
	"path"
	"slices"
	"strconv"
)

// Subject is what a hook's matcher and filter look at.
type Subject struct {
	Tool      string // "" when the event has no tool
	Cwd       string // "" = unknown
	AgentName string
	Dialect   string
}

// Admits reports whether the hook's matcher and filter let s through; when
// not, why says so in words. All filters that are given must hold, an
// exclusion wins, and tool filters fail on events without a tool (SPEC section 4).
func (h *Hook) Admits(s Subject) (why string, ok bool) {
	if h.Matcher != nil && !h.Matcher.MatchString(s.Tool) {
		return "matcher " + strconv.Quote(h.MatcherText) + " does not match tool " + strconv.Quote(s.Tool), false
	}
	f := h.Filter
	switch {
	case len(f.Tools)+len(f.ExcludeTools) > 0 && s.Tool == "":
		return "it filters by tool and the event has none", false
	case slices.Contains(f.ExcludeTools, s.Tool):
		return "filter.exclude_tools names tool " + strconv.Quote(s.Tool), false
	case len(f.Tools) > 0 && !slices.Contains(f.Tools, s.Tool):
		return "filter.tools does not name tool " + strconv.Quote(s.Tool), false
	case len(f.Workspaces) > 0 && !inWorkspace(f.Workspaces, s.Cwd):
		return "filter.workspaces does not match cwd " + strconv.Quote(s.Cwd), false
	case len(f.Agents) > 0 && !matchesAny(f.Agents, s.AgentName) && !matchesAny(f.Agents, s.Dialect):
		return "filter.agents matches neither agent " + strconv.Quote(s.AgentName) + " nor dialect " + strconv.Quote(s.Dialect), false
	}
	return "", true
}

// inWorkspace reports whether cwd or a folder above it matches.
func inWorkspace(patterns []Pattern, cwd string) bool {
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

func matchesAny(patterns []Pattern, s string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return s != "" && p.Match(s) })
}
