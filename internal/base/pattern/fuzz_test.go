package pattern

import (
	"strings"
	"testing"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table

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
		p, err := Compile(text)
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
			path, pathErr := Compile(text, '/', '-')
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
