package hook

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
)

// FuzzFilter: a hook with a filter admits exactly the subjects that all of its parts,
// each alone, admit; a refusal has a reason.
func FuzzFilter(f *testing.F) {
	f.Add("Bash", "shell", "/home/u/**", "claude*", "^Ba", "Bash", "/home/u/p", "claude", "claude-code")
	f.Add("", "", "", "", "", "", "", "", "")
	f.Add("a", "a", "{/a,/b}/*", "[", "(", "a", "../a/./b//", "*", "x")
	f.Fuzz(func(t *testing.T, tool, exclude, workspace, agent, matcher, name, cwd, who, dialect string) {
		if len(workspace)+len(agent)+len(cwd)+len(who) > 512 {
			return
		}
		re, err := regexp.Compile(matcher)
		if err != nil {
			return
		}
		s := Subject{Cwd: cwd, AgentName: who, Dialect: dialect}
		if name != "" {
			s.Tools = []string{name}
		}
		parts := []Hook{{}}
		if matcher != "" {
			parts = append(parts, Hook{Matcher: re, MatcherText: matcher})
		}
		if tool != "" {
			parts = append(parts, Hook{Filter: Filter{Tools: []string{tool}}})
		}
		if exclude != "" {
			parts = append(parts, Hook{Filter: Filter{ExcludeTools: []string{exclude}}})
		}
		if p, err := pattern.Compile(workspace, '/'); err == nil {
			parts = append(parts, Hook{Filter: Filter{Workspaces: []pattern.Pattern{p}}})
		}
		if p, err := pattern.Compile(agent); err == nil {
			parts = append(parts, Hook{Filter: Filter{Agents: []pattern.Pattern{p}}})
		}
		var all Hook
		want := true
		for _, part := range parts {
			why, ok := part.Admits(s)
			if ok != (why == "") {
				t.Fatalf("admitted %v because %q", ok, why)
			}
			want = want && ok
			all.Matcher, all.MatcherText = first(part.Matcher, all.Matcher), part.MatcherText
			all.Filter.Tools = append(all.Filter.Tools, part.Filter.Tools...)
			all.Filter.ExcludeTools = append(all.Filter.ExcludeTools, part.Filter.ExcludeTools...)
			all.Filter.Workspaces = append(all.Filter.Workspaces, part.Filter.Workspaces...)
			all.Filter.Agents = append(all.Filter.Agents, part.Filter.Agents...)
		}
		if why, ok := all.Admits(s); ok != want {
			t.Fatalf("together: got %v (%s), alone %v", ok, why, want)
		}
	})
}

func first(a, b *regexp.Regexp) *regexp.Regexp {
	if a != nil {
		return a
	}
	return b
}

// FuzzExpand: ${env.NAME} is replaced once, by the variable's value, and nothing else
// is; paths expand as os.Expand does.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "${env.A}", "$A ${A} ${env.}", "${env.${env.A}}", "x${env.A}${env.B_1}y", "${env.1}", "~/${env.A}", "~", "~a", "${env.A", "$$${"} {
		f.Add(s, "v")
		f.Add(s, "${env.A}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		asked := 0
		got := ExpandEnv(text, func(string) string { asked++; return value })
		if want := len(text) - len(strings.Join(envReference.FindAllString(text, -1), "")) + asked*len(value); len(got) != want {
			t.Fatalf("ExpandEnv(%q) = %q with %d values %q", text, got, asked, value)
		}
		if asked == 0 && got != text {
			t.Fatalf("ExpandEnv(%q) = %q without a reference", text, got)
		}
		path := expandPath(text, func(string) string { return value })
		plain := os.Expand(text, func(string) string { return value })
		if !strings.HasPrefix(plain, "~") && path != plain {
			t.Fatalf("expandPath(%q) = %q, want %q", text, path, plain)
		}
	})
}
