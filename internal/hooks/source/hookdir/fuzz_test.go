package hookdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// Whatever a HOOK.yaml holds: no panic, each problem names the file, and a hook
// that is accepted can be matched and run.
func FuzzHookYAML(f *testing.F) {
	for _, pattern := range []string{"../../../../testdata/hooks/*/" + FileName, "../../../../testdata/broken-hooks/*/" + FileName} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("name: &a x\nevents: [*a]\ncommand: ~/x\nenv: {A: '${env.B}'}\nfilter: {workspaces: ['/**'], agents: a}\nmatcher: '(a'\n"))
	f.Add([]byte("name: a\nevents: {a,b}\ntype: script\nscript: |\n  x\ntimeout: 1e3\nterm_before: .inf\n"))
	dir := f.TempDir()
	file := filepath.Join(dir, FileName)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		h, problems := Read(dir, Options{KnownEvents: []string{"agent:end"}})
		errors := 0
		for _, p := range problems {
			if p.File != file || p.Message == "" || p.Line > 0 && p.Column < 1 {
				t.Errorf("problem %+v does not say where it is", p)
			}
			if !p.Warning {
				errors++
			}
		}
		if (h == nil) != (errors > 0) {
			t.Fatalf("hook %v with %d errors", h, errors)
		}
		if h != nil {
			checkHook(t, h)
		}
	})
}

func checkHook(t *testing.T, h *hook.Hook) {
	t.Helper()
	if h.Name == "" || h.ID == "" || len(h.Patterns) == 0 {
		t.Errorf("accepted without name or events: %+v", h)
	}
	for _, p := range h.Patterns {
		p.Match("agent:end")
		if p.Text == "" {
			t.Error("accepted with an empty pattern")
		}
	}
	if (h.MatcherText == "" || h.MatcherText == "*") != (h.Matcher == nil) {
		t.Errorf("matcher %q compiled to %v", h.MatcherText, h.Matcher)
	}
	if h.Timeout < hook.MinTimeout || h.Timeout > hook.MaxTimeout || h.TermBefore < 0 || h.TermBefore >= h.Timeout || h.Concurrency < 0 {
		t.Errorf("accepted out of range: %+v", h)
	}
	switch h.Type {
	case hook.Command:
		if !filepath.IsAbs(h.Path) {
			t.Errorf("path %q is not absolute", h.Path)
		}
	case hook.Script:
		if h.ScriptText == "" || h.Shell == "" {
			t.Errorf("script without text or shell: %+v", h)
		}
	default:
		t.Errorf("accepted type %q", h.Type)
	}
}
