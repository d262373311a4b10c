package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/sdk"
)

// guardsCatch has the calls that each guard of the documents, by its name, must deny, or ask about.
var guardsCatch = map[string][]map[string]any{
	"no-sudo":    sudoLines,
	"bash-guard": sudoLines,
	"no-main":    callsOf("git push origin main", "cd x && git push -u origin main", "git push origin HEAD:main"),
	"no-env":     {{"file_path": ".env", "content": "A=1"}, {"file_path": "/w/app/.env", "content": "A=1"}},
	"no-generated": {{"file_path": "api.gen.go", "content": "x"}, {"file_path": "/w/ui/api.gen.ts",
		"old_string": "a", "new_string": "b"}},
	"ask-push":    callsOf("git push", "cd app && git -C x push"),
	"house-order": callsOf("git push", "cd x && git push origin main"),
	"house-rules": callsOf("git push origin main", "cd x && git push -u origin HEAD:main",
		"sudo git push origin main"),
}

var sudoLines = callsOf("sudo ls", "cd x && sudo rm -rf /", "true; sudo -u root id",
	"echo a | sudo tee /etc/hosts", "(sudo id)")

// notGuards are hooks of the documents that deny nothing by design, or whose file there is a part.
var notGuards = []string{"post-status", "log-ends", "today", "judge", "guard", "alarm", "hookd", "index-later",
	"tidy-up"}

// harmless are calls in which each word that a guard may look for stands where it means nothing.
var harmless = slices.Concat(
	callsOf("ls", "go test ./...", "git status", "git diff main", "git log main..HEAD", "git checkout main",
		"git push-notes", "ls /home/me/sudoku", "cat /srv/sudo/notes.txt", "cd /tmp/sudo-app && make",
		"rm -r build/main",
		"echo 'use sudo for that'", "git commit -m 'no sudo and no git push to main'", "grep -rn 'sudo ' docs",
		"npm run main", "ls .env.example", "cat docs/main.env.md"),
	[]map[string]any{
		{"command": "ls", "description": "sudo rm -rf / && git push origin main, then write .env"},
		{"file_path": "/home/me/sudoku/main.go", "content": "sudo git push origin main\n.env\n/gen/ api.gen.go"},
		{"file_path": "docs/env.md", "content": "write .env by hand"},
		{"file_path": "gen/README.md", "content": "x"},
		{"file_path": "app/generated/main.go", "old_string": "sudo ", "new_string": ".env"},
		{"pattern": "sudo |git push origin main|\\.env"}, {"url": "https://example.com/sudo/main/.env"},
	},
)

func callsOf(list ...string) (calls []map[string]any) {
	for _, line := range list {
		calls = append(calls, map[string]any{"command": line})
	}
	return calls
}

// folders are paths that may be the agent's folder.
var folders = []string{"/home/me/sudoku", "/srv/sudo /app", "/w/git push origin main/x", "/w/gen/.env"}

// heredoc begins a file of a hook that a shell block writes: `cat > FILE <<'END'`.
var heredoc = regexp.MustCompile(`(?m)^(?:.*&& )?cat (>>?) (?:\S+/)?([^/\s]+)/(HOOK\.yaml|\S+\.(?:sh|py)) <<'(\w+)'\n`)

// documentGuards writes the hooks of all documents as they stand at the end of each, into a folder of
// the document, and returns their folders.
func documentGuards(t *testing.T) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	files, err := pages()
	hooktest.Must(t, err)
	for _, file := range append(files, "../README.md") {
		text := read(t, file)
		home := filepath.Join(root, strings.TrimSuffix(filepath.Base(file), ".md"))
		for _, at := range heredoc.FindAllStringSubmatchIndex(text, -1) {
			m := func(i int) string { return text[at[2*i]:at[2*i+1]] }
			body, _, ok := strings.Cut(text[at[1]:], "\n"+m(4)+"\n")
			if !ok {
				t.Fatalf("%s: a file has no end: %s", file, m(0))
			}
			put(t, filepath.Join(home, m(2), m(3)), body+"\n", m(1) == ">>")
		}
		for _, m := range regexp.MustCompile("(?ms)^```(?:yaml|sh) (folder|after) ~/.librefang/hooks/(\\S+)/(\\S+)\n(.*?)^```$").
			FindAllStringSubmatch(text, -1) {
			put(t, filepath.Join(home+"-"+m[1], m[2], m[3]), m[4], false)
		}
	}
	found, err := filepath.Glob(filepath.Join(root, "*", "*", "HOOK.yaml"))
	hooktest.Must(t, err)
	for _, f := range found {
		dirs = append(dirs, filepath.Dir(f))
	}
	return dirs
}

func put(t *testing.T, path, text string, more bool) {
	t.Helper()
	if more {
		had, err := os.ReadFile(path)
		hooktest.Must(t, err)
		text = string(had) + text
	}
	hooktest.Write(t, path, text, 0o755)
	if strings.HasSuffix(path, ".py") {
		hooktest.Write(t, filepath.Join(filepath.Dir(path), "hookd.py"), string(sdk.Python), 0o644)
	}
}

// Each guard of the documents denies the calls of its purpose, and nothing that is harmless. It denies nothing
// for the folder, the prompt or the description, nor for a word in a text.
func TestGuardsOfDocuments(t *testing.T) {
	hooktest.NeedTool(t, "jq", "python3")
	c := config.Default(t.TempDir())
	seen := map[string]bool{}
	for _, dir := range documentGuards(t) {
		name := filepath.Base(dir)
		if slices.Contains(notGuards, name) {
			continue
		}
		seen[name] = true
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+name, func(t *testing.T) {
			if guardsCatch[name] == nil {
				t.Fatalf("say in guardsCatch which calls %s is to deny, or that it is no guard", name)
			}
			h, err := catalog.Find(c, dir)
			hooktest.Must(t, err)
			h.Tests, h.Shadow = nil, false
			for i, call := range append(slices.Clone(guardsCatch[name]), harmless...) {
				if i >= len(guardsCatch[name]) && i%3 != 0 && !hooktest.All() {
					continue // `make test-all` asks each guard about each harmless call
				}
				data, err := json.Marshal(call)
				hooktest.Must(t, err)
				want := "none"
				if i < len(guardsCatch[name]) {
					want = "deny"
				}
				h.Tests = append(h.Tests, hook.Test{
					Name: string(data), Event: "PreToolUse", Data: data, Cwd: folders[i%len(folders)], Expect: want,
				})
			}
			got, err := rehearse.TestsLocal(t.Context(), c, h)
			hooktest.Must(t, err)
			for _, one := range got.Tests {
				if caught := one.Got == "deny" || one.Got == "ask"; caught != (one.Expect == "deny") ||
					one.Got == "failed" {
					t.Errorf("%s: %s %s (%s)", one.Name, one.Got, one.Reason, one.Why)
				}
			}
		})
	}
	for name := range guardsCatch {
		if !seen[name] {
			t.Errorf("no document has a guard %s: the search is broken, or take it out", name)
		}
	}
	if len(seen) == 0 {
		t.Error("no guard was found")
	}
}
