package facts

import (
	"cmp"
	"strings"
	"testing"
)

func TestAliasesOfGitAreRead(t *testing.T) {
	files := map[string]string{
		"/home/me/.gitconfig": "[user]\n\tname = me\n[alias]\n\tst = status -sb\n\tnuke = !git reset --hard && \\\n git clean -fdx\n" +
			"\tlg = \"log --format='%h # %s'\" ; short\n\tloop = loop\n\tup = push -f\n",
		"/home/me/project/.git/HEAD":   "ref: refs/heads/main\n",
		"/home/me/project/.git/config": "[alias]\n\tup = pull\n",
		"/home/me/tree/.git":           "gitdir: /home/me/project/.git/worktrees/tree\n",
	}
	env := Env{Cwd: "/home/me/project", Home: "/home/me", Text: func(path string) (string, bool) {
		text, ok := files[path]
		return text, ok
	}}
	tests := []struct {
		line, cwd string
		doubt     bool
		effect    EffectKind
	}{
		{"git st", "", false, ""},
		{"git ST src", "", false, ""},
		{"git lg -5", "", false, ""},
		{"git nuke", "", false, KindHistory},
		{"git up", "", false, KindConnect},
		{"git up", "/home/me/tree", false, KindConnect},
		{"git up", "/home/me/other", false, KindHistory},
		{"cd src && git up", "", false, KindConnect},
		{"git loop", "", true, ""},
		{"git none", "", true, ""},
	}
	for _, tt := range tests {
		e := env
		e.Cwd = cmp.Or(tt.cwd, e.Cwd)
		f := Line(tt.line, e)
		doubt := false
		for _, d := range f.Doubts {
			doubt = doubt || d.Kind == DoubtSubcommand || d.Kind == DoubtLimits
		}
		if doubt != tt.doubt || f.Has(KindHistory) != (tt.effect == KindHistory) || f.Has(KindConnect) != (tt.effect == KindConnect) {
			t.Errorf("%s in %s: %s", tt.line, e.Cwd, strings.TrimSpace(string(f.JSON())))
		}
	}
}
