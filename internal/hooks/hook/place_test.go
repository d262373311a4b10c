package hook

import (
	"path/filepath"
	"slices"
	"testing"
)

func lookupIn(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestEnvironExpandsOnlyTheEnvForm(t *testing.T) {
	h := &Hook{Env: []string{"A=v-${env.TOK}", "B=pa$$word", "C=${TOK}", "D=${env.GONE}", "E=x=${env.TOK}", "F=${env.no-name}"}}
	want := []string{"A=v-tok", "B=pa$$word", "C=${TOK}", "D=", "E=x=tok", "F=${env.no-name}"}
	if got := h.Environ(lookupIn(map[string]string{"TOK": "tok"})); !slices.Equal(got, want) {
		t.Errorf("Environ() = %q, want %q", got, want)
	}
	if h.Env[0] != "A=v-${env.TOK}" {
		t.Errorf("Environ changed the hook: %q", h.Env[0])
	}
}

func TestRunDir(t *testing.T) {
	cwd, file := t.TempDir(), "/srv/agent"
	vars := lookupIn(map[string]string{"HOME": "/home/u", "SUB": "scripts", "EMPTY": ""})
	for _, tt := range []struct {
		name, cwd, workingDir string
		inCwd                 bool
		want                  string
	}{
		{"folder", cwd, "", false, file},
		{"folder-relative", cwd, "x", false, file + "/x"},
		{"folder-keeps-dollar", cwd, "/a/$SUB", false, "/a/$SUB"},
		{"cwd", cwd, "", true, cwd},
		{"cwd-gone", cwd + "/gone", "", true, file},
		{"cwd-not-absolute", ".", "", true, file},
		{"cwd-unknown", "", "sub", true, file + "/sub"},
		{"cwd-relative", cwd, "./hooks", true, filepath.Join(cwd, "hooks")},
		{"absolute", cwd, "/opt/../etc", true, "/etc"},
		{"home", cwd, "~", true, "/home/u"},
		{"below-home", cwd, "~/x", true, "/home/u/x"},
		{"dollar", cwd, "$SUB", true, filepath.Join(cwd, "scripts")},
		{"braces", cwd, "a/${SUB}", true, filepath.Join(cwd, "a/scripts")},
		{"env-form", cwd, "${env.SUB}", true, filepath.Join(cwd, "scripts")},
		{"empty-after-expansion", cwd, "${env.EMPTY}", true, cwd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &Hook{Dir: file, WorkingDir: tt.workingDir, InEventCwd: tt.inCwd}
			if got := h.RunDir(tt.cwd, vars); got != tt.want {
				t.Errorf("RunDir(%q) = %q, want %q", tt.cwd, got, tt.want)
			}
		})
	}
}
