package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Every hook of the gallery loads without a word of complaint, is described in
// gallery.md with each variable of its env, and has a test.
func TestGalleryIsWhole(t *testing.T) {
	doc := read(t, "gallery.md")
	tests, err := filepath.Glob("gallery_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tried strings.Builder
	for _, file := range tests {
		tried.WriteString(read(t, file))
	}
	names := gallery.Names()
	if len(names) < 13 {
		t.Errorf("only %d hooks: %v", len(names), names)
	}
	for _, name := range names {
		h, problems := hookdir.Read(filepath.Join("gallery", name), hookdir.Options{})
		if h == nil || len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if h.Name != name {
			t.Errorf("%s is called %s", name, h.Name)
		}
		if len(h.Tests) == 0 {
			t.Errorf("%s has no tests", name)
		}
		if guard := regexp.MustCompile(`-guard$|^rate-limit$`).MatchString(name); guard && h.Rules == nil {
			t.Errorf("%s is a guard and has no rules", name)
		}
		_, part, ok := strings.Cut(doc, "\n### "+name+"\n")
		if part, _, _ = strings.Cut(part, "\n### "); !ok {
			t.Errorf("gallery.md has no part on %s", name)
		}
		for _, m := range regexp.MustCompile(`(?m)^  ([A-Z_]+):`).FindAllStringSubmatch(read(t, filepath.Join("gallery", name, "HOOK.yaml")), -1) {
			if !strings.Contains(part, "`"+m[1]+"`") {
				t.Errorf("gallery.md says nothing of %s of %s", m[1], name)
			}
		}
		if !strings.Contains(tried.String(), `"`+name+`"`) {
			t.Errorf("no test installs %s", name)
		}
	}
}

// The tests that each hook brings along pass.
func TestGalleryTests(t *testing.T) {
	hooktest.NeedTool(t, "python3", "git")
	u := newUser(t)
	hooktest.Must(t, os.MkdirAll(filepath.Join(u.home, "hooks"), 0o700))
	for _, name := range gallery.Names() {
		hooktest.Must(t, gallery.Copy(name, filepath.Join(u.home, "hooks", name)))
	}
	out := u.block("hookd test --all --local")
	for _, name := range gallery.Names() {
		if !regexp.MustCompile(`(?m)^` + name + `: \d+ tests? as expected$`).MatchString(out) {
			t.Errorf("%s is not as expected:\n%s", name, out)
		}
	}
}

// The scripts are clean: shellcheck for sh, and Python as old as 3.8, which
// some systems still have.
func TestGalleryScripts(t *testing.T) {
	scripts, err := filepath.Glob("gallery/*/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	programs, err := filepath.Glob("gallery/*/*.py")
	if err != nil || len(programs) == 0 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	shared, err := filepath.Glob("gallery/*.py")
	if err != nil || len(shared) == 0 {
		t.Fatalf("%d shared programs, %v", len(shared), err)
	}
	programs = append(programs, shared...)
	t.Run("sh", func(t *testing.T) {
		hooktest.NeedTool(t, "shellcheck")
		if out, err := exec.Command("shellcheck", scripts...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("python", func(t *testing.T) {
		hooktest.NeedTool(t, "python3")
		const parse = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, 'rb').read(), name, feature_version=(3, 8))"
		if out, err := exec.Command("python3", append([]string{"-c", parse}, programs...)...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	for _, script := range append(scripts, programs...) {
		if !strings.HasPrefix(read(t, script), "#!") {
			continue // read by a program beside it
		}
		if info, err := os.Stat(script); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", script)
		}
	}
}

// lines decodes a file of one JSON object a line.
func lines(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in the line %q", err, line)
		}
		all = append(all, m)
	}
	return all
}

// secret is readable by its owner only.
func secret(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%s: mode %v, %v, want none for others", path, info.Mode(), err)
	}
}
