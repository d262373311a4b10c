package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// CONTRIBUTING.md names only targets and tests that exist: each make target, and each test that
// a `go test -run` names.
func TestContributingNamesWhatExists(t *testing.T) {
	guide, makefile := source(t, "CONTRIBUTING.md"), source(t, "Makefile")
	targets := regexp.MustCompile("(?m)(?:^|`|=\\S+ )make ([a-z-]+)").FindAllStringSubmatch(guide, -1)
	if len(targets) < 3 {
		t.Errorf("got %d make targets, want some", len(targets))
	}
	for _, m := range targets {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("the Makefile has no target %s", m[1])
		}
	}
	tests := regexp.MustCompile(`go test (?:-\S+ )*(\./\S+|\.) -run (\w+)(?:/(\w+))?`).FindAllStringSubmatch(guide, -1)
	if len(tests) < 4 {
		t.Errorf("got %d tests, want some", len(tests))
	}
	for _, m := range tests {
		files, _ := filepath.Glob(filepath.Join("..", m[1], "*_test.go"))
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			found = found || err == nil && strings.Contains(string(text), "\nfunc "+m[2])
		}
		if !found {
			t.Errorf("%s has no test that begins with %s", m[1], m[2])
		}
		if m[3] == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join("..", m[1], "testdata", "script", m[3]+".txtar")); err != nil {
			t.Error(err)
		}
	}
}

// source reads a file of the tree.
func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
