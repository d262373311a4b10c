package hook

import (
	_ "github.com/hookd/hookd/internal/dialect" // the contract table
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gobwas/glob"
)

// FuzzPattern holds patterns to the glob library's own answer, and to the
// affixes by which the dispatcher looks them up.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"*", "agent:*", "a*d", "{agent,session}:end", "[a-z]gent:en?", "**", "x:[!a]*", `a\*`, "{a,{b,c}}*", `\`, "[", "{a", "a]b}", "[]", "{}", "é*", "\xff*", "/home/**", "**/.e?v*", "[!/]*/{*,a/b}/*", "{,x}[a-]*"} {
		f.Add(text, "agent:end")
		f.Add(text, "a*")
		f.Add(text, "/home/u/a-b/.env")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if len(text) > 256 || len(name) > 256 {
			return
		}
		p, err := CompilePattern(text)
		g, globErr := glob.Compile(text)
		if text == "" || globErr != nil {
			if err == nil {
				t.Fatalf("%q is accepted, and %v", text, globErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q is refused: %v", text, err)
		}
		if got, want := p.Match(name), g.Match(name); got != want {
			t.Errorf("%q matches %q: got %v, want %v", text, name, got, want)
		}
		if slow := strings.Count(text, "*")+strings.Count(text, "{") > 4; !slow { // the library's own way
			path, pathErr := CompilePattern(text, '/', '-')
			if got, want := path.Match(name), glob.MustCompile(text, '/', '-').Match(name); got != want || pathErr != nil {
				t.Errorf("%q matches the path %q: got %v, want %v, %v", text, name, got, want, pathErr)
			}
			if p.glob != nil && p.glob.always.MatchString(name) != g.Match(name) {
				t.Errorf("%q as a regular expression matches %q: got %v", text, name, !g.Match(name))
			}
		}
		head, tail := p.Affixes()
		if p.Match(name) && !(strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)) {
			t.Errorf("%q matches %q, which has not %q and %q at its ends", text, name, head, tail)
		}
		if p.Literal() && (p.Match(name) != (name == text) || !p.Match(text)) {
			t.Errorf("%q is a plain name and matches %q: %v", text, name, p.Match(name))
		}
	})
}

// FuzzFilter: a hook with a filter admits what all of its parts admit, alone;
// a refusal has a reason.
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
		if p, err := CompilePattern(workspace, '/'); err == nil {
			parts = append(parts, Hook{Filter: Filter{Workspaces: []Pattern{p}}})
		}
		if p, err := CompilePattern(agent); err == nil {
			parts = append(parts, Hook{Filter: Filter{Agents: []Pattern{p}}})
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

// FuzzExpand: ${env.NAME} is replaced once, by what there is, and nothing else
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
