package connect

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownLists are the files that the agents' own lists are written into.
var ownLists = map[string]string{
	"gemini-cli": ".gemini/policies/hookd-learned.toml",
	"codex":      ".codex/rules/hookd-learned.rules",
}

// Claude Code has its list in its settings: see TestEntriesOfSettings.

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

// AllowOwn adds entries to a list in the settings, and disconnect removes hookd's own. A person's
// entries stay, whether older or newer.
func TestEntriesOfSettings(t *testing.T) {
	getenv := func(string) string { return "" }
	for _, tt := range []struct{ name, before, after string }{
		{"none", "", ""},
		{"empty", "{}\n", "{}\n"},
		{"own entry", "{\n  // mine\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(npm run lint)\",\n      \"Read\"\n    ]\n  }\n}\n", ""},
		{"deny alone", `{"permissions": {"deny": ["WebFetch"]}, "model": "opus"}` + "\n", ""},
		{"empty list", `{"permissions": {"allow": []}}` + "\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, ".claude/settings.json")
			if tt.before != "" {
				hooktest.Write(t, file, tt.before, 0o640)
			}
			o := Options{Agent: "claude-code", Home: home, Bridge: "/usr/bin/hookd-bridge", Getenv: getenv}
			apply := func(p Plan, err error) {
				t.Helper()
				if err == nil {
					err = p.Apply()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			text := func() string { b, _ := os.ReadFile(file); return string(b) }
			apply(Connect(o))
			connected := text()
			apply(AllowOwn(o, [][]string{{"go", "build"}}))
			apply(AllowOwn(o, [][]string{{"go", "test", "./..."}, {"npm", "run", "lint"}}))
			tree, err := (json5Format{}).parse([]byte(text()))
			list, _ := neutral.Value(tree, "permissions", "allow").([]any)
			if err != nil || !slices.Contains(list, any("Bash(go test ./...)")) || slices.Contains(list, any("Bash(go build)")) {
				t.Errorf("%v, in the list %v", err, list)
			}
			if b, err := os.ReadFile(file + LearnedSuffix); err != nil || string(b) != connected {
				t.Errorf("the backup: %v\n%s", err, b)
			}
			apply(DisallowOwn(o))
			if one, err := (json5Format{}).parse([]byte(text())); err != nil || !reflect.DeepEqual(withoutEmpty(one), withoutEmpty(parsed(t, connected))) {
				t.Errorf("taken back: %v\n%s", err, text())
			}
			apply(AllowOwn(o, [][]string{{"go", "vet"}}))
			apply(Disconnect(o))
			want := tt.before
			if got := text(); got != want {
				t.Errorf("disconnected:\n%s\nwant:\n%s", got, want)
			}
			if left, _ := filepath.Glob(file + "*"); len(left) > 1 {
				t.Errorf("left: %v", left)
			}
			if exists(filepath.Join(home, ".claude/hookd-learned.json")) {
				t.Error("the note is left")
			}
		})
	}
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	tree, err := (json5Format{}).parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// withoutEmpty is a tree without an empty list of permissions: DisallowOwn does not know whether it was there.
func withoutEmpty(tree map[string]any) map[string]any {
	if p, _ := tree["permissions"].(map[string]any); p != nil {
		if list, _ := p["allow"].([]any); len(list) == 0 {
			delete(p, "allow")
		}
		if len(p) == 0 {
			delete(tree, "permissions")
		}
	}
	return tree
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
	if OwnListOf("pi") != nil {
		t.Error("Pi asks no questions")
	}
}
