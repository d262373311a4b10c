package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownLists are the files that the agents' own lists are written into.
var ownLists = map[string]string{
	"gemini-cli": ".gemini/policies/hookd-learned.toml",
	"codex":      ".codex/rules/hookd-learned.rules",
}

// TestOwnLists writes commands into each agent's own list; disconnect takes them out.
func TestOwnLists(t *testing.T) {
	for name, file := range ownLists {
		home := t.TempDir()
		o := Options{Agent: name, Home: home, Bridge: "/usr/bin/hookd-bridge", Getenv: func(string) string { return "" }}
		for _, plan := range []func() (Plan, error){
			func() (Plan, error) { return Connect(o) },
			func() (Plan, error) { return AllowOwn(o, [][]string{{"go", "build"}}) },
			func() (Plan, error) { return AllowOwn(o, [][]string{{"go", "test", "./..."}, {"npm", "run", "lint"}}) },
		} {
			p, err := plan()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := p.Apply(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		text, err := os.ReadFile(filepath.Join(home, file))
		if err != nil || !strings.HasPrefix(string(text), neutral.OwnListMark) || !strings.Contains(string(text), "npm") ||
			strings.Contains(string(text), "build") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		p, err := Disconnect(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := p.Apply(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(home, file)); !os.IsNotExist(err) {
			t.Errorf("%s: the list is still there: %v", name, err)
		}
	}
}

// TestAnOwnListOfOthers stays as it is.
func TestAnOwnListOfOthers(t *testing.T) {
	for name, file := range ownLists {
		home := t.TempDir()
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("# mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{Agent: name, Home: home, Getenv: func(string) string { return "" }}
		if _, err := AllowOwn(o, [][]string{{"ls"}}); err == nil {
			t.Errorf("%s: the file would be written over", name)
		}
		if p, err := Disconnect(o); err != nil || len(p.Changes) > 0 {
			t.Errorf("%s: disconnect would change it: %v", name, err)
		}
	}
	if OwnListOf("claude-code") != nil {
		t.Error("Claude Code listens to a hook that allows")
	}
}
