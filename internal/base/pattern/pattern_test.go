package pattern

import (
	"strings"
	"testing"

	"github.com/gobwas/glob"
)

// Plain names and prefixes are matched without a glob, with its result. A pattern does
// not match a text that its affixes rule out.
func TestPatternsMatchAsGlobsDo(t *testing.T) {
	texts := []string{
		"*", "agent:*", "agent:end", "*:end", "a*d", "{agent,session}:end", "agent:{end,start}", "[a-z]gent:end", "agent:en?",
		"**", "agent:**", "a,b", "x:[!a]*", `agent\:end`, `a\*`, "agent:end*", "{agent:*,tool}", "agent:e[mn]d",
	}
	names := []string{"agent:end", "agent:", "agent", "session:end", "a", "a,b", "x:y", "x:a", "tool", "a*", "ad", "agent:end:x", "agent:start"}
	for _, text := range texts {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		g, err := glob.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		head, tail := p.Affixes()
		for _, name := range names {
			if got, want := p.Match(name), g.Match(name); got != want {
				t.Errorf("%s matches %s: got %v, want %v", text, name, got, want)
			}
			if p.Match(name) && !(strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)) {
				t.Errorf("%s matches %s, which has not %q and %q at its ends", text, name, head, tail)
			}
		}
	}
}

func TestThePatternOfAWorkspaceStopsAtSlashes(t *testing.T) {
	p, err := Compile("/home/*", '/')
	if err != nil {
		t.Fatal(err)
	}
	if !p.Match("/home/u") || p.Match("/home/u/p") {
		t.Errorf("got %v and %v, want true and false", p.Match("/home/u"), p.Match("/home/u/p"))
	}
}

// A text that is long and nearly fits takes time in proportion to its length.
func TestLongTexts(t *testing.T) {
	for _, text := range []string{"**/*a*a*a*b*", "/w/*a*a*a*a*/c", "{*a,*b}*{*a,*b}*c*", "{a*,b}{a*,b}{a*,b}c*d*", "*a*a*a*b*"} {
		for _, separators := range [][]rune{nil, {'/'}} {
			p, err := Compile(text, separators...)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"a", "a/", "/w/a"} {
				if name := strings.Repeat(part, 20_000); p.Match(name) {
					t.Errorf("%s matches %.10s…", text, name)
				}
			}
		}
	}
}
