package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// looksBack are the hooks of the gallery that look back.
var looksBack = []string{
	"tests-before-push", "review-before-push", "loop-guard", "session-budget", "leak-guard", "two-sessions",
	"claims-at-stop", "branch-guard",
}

// past is a session of Claude Code that hooks look back on.
type past struct {
	*house
	session, cwd string
	calls        int
}

// asks sends a call before it runs and returns its id and the verdict in a word.
func (p *past) asks(tool string, input map[string]any) (id, said string) {
	p.calls++
	id = fmt.Sprint(p.session, p.calls)
	v := p.send(p.event("PreToolUse", id, tool, input)).Verdict
	return id, strings.TrimSpace(describe(v) + " " + reason(v))
}

func (p *past) event(name, id, tool string, input map[string]any) event {
	return event{claude, name, map[string]any{"session_id": p.session, "cwd": p.cwd, "tool_name": tool, "tool_input": input,
		"tool_use_id": id, "tool_response": map[string]any{"stdout": ""}, "error": ""}}
}

// runs lets a shell line run that is let through, and fail or not.
func (p *past) runs(line string, ok bool) {
	p.t.Helper()
	input := map[string]any{"command": line}
	id, said := p.asks("Bash", input)
	if !strings.HasPrefix(said, "no opinion") {
		p.t.Errorf("%s: %s", line, said)
	}
	name := "PostToolUse"
	if !ok {
		name = "PostToolUseFailure"
	}
	p.send(p.event(name, id, "Bash", input))
}

// says fails the test unless the hooks say so of a line, with this reason.
func (p *past) says(line, want string) {
	p.t.Helper()
	if _, said := p.asks("Bash", map[string]any{"command": line}); !strings.HasPrefix(said, want) {
		p.t.Errorf("%s: %s, want %s", line, said, want)
	}
}

// TestGalleryLooksBack installs the hooks that look back, and has sessions make calls in
// turns, side by side, in subagents, and across restarts.
func TestGalleryLooksBack(t *testing.T) {
	hooktest.NeedTool(t, "git")
	home := newHome(t)
	for _, name := range looksBack {
		install(t, home, name, nil)
	}
	h := start(t, home)
	dir := filepath.Join(home, "project")
	shell(t, home, "git", "init", "-q", "-b", "fix", dir)
	p := &past{house: h, session: "one", cwd: dir}

	p.says("git push origin fix", "deny no test has passed")
	p.runs("go test ./...", false)
	p.says("git push origin fix", "deny")
	p.runs("go test ./...", true)
	h.restart()
	p.says("git push origin fix", "no opinion")
	p.says("git push origin HEAD:main", "deny others have this branch")
	p.runs("git diff main", true)
	p.says("git push origin HEAD:main", "no opinion")
	p.runs("sed -i s/a/b/ x.go", true)
	p.says("git push origin fix", "deny")

	other := &past{house: h, session: "two", cwd: dir}
	if _, said := other.asks("Write", map[string]any{"file_path": filepath.Join(dir, "x.go"), "content": "b"}); !strings.HasPrefix(
		said, "ask another session") {
		t.Errorf("an edit of a file that another session has edited: %s", said)
	}
	p.says("cat ~/.netrc", "no opinion")
	p.says("curl https://example.org", "ask the session has read a secret")
	other.says("curl https://example.org", "no opinion")

	said := make(chan string, 8)
	var calls sync.WaitGroup
	for i := range cap(said) { // side by side: none may slip through
		q := &past{house: h, session: "three", cwd: dir, calls: 10 * i}
		calls.Go(func() {
			_, s := q.asks("Bash", map[string]any{"command": "ls -la", "description": fmt.Sprint(i)})
			said <- s
		})
	}
	calls.Wait()
	close(said)
	asked := 0
	for s := range said {
		if strings.HasPrefix(s, "ask it is the same call") {
			asked++
		}
	}
	if asked != 4 {
		t.Errorf("%d of 8 equal calls at once are asked about, want 4", asked)
	}

	stops := func(session, text string) string {
		v := h.send(ended(claude, session, dir, text)).Verdict
		return describe(v) + " " + reason(v)
	}
	if got := stops("one", "All tests pass."); !strings.HasPrefix(got, "deny") {
		t.Errorf("tests are claimed to pass after an edit: %s", got)
	}
	p.runs("go test ./...", true)
	if got := stops("one", "All tests pass."); strings.HasPrefix(got, "deny") {
		t.Errorf("tests have passed: %s", got)
	}

	hooktest.Write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n", 0o644)
	p.says("rm x.go", "deny main is checked out")
	h.unharmed()
	var decisions []client.Decision
	hooktest.Until(t, "the question about curl names the read of the secret", func() bool {
		decisions, _ = h.client.Decisions(t.Context(), client.DecisionQuery{Session: "one"})
		for _, d := range decisions {
			if strings.HasPrefix(d.Subject, "curl") {
				return len(d.Earlier) == 1
			}
		}
		return false
	})
	if _, err := os.Stat(filepath.Join(home, "hookd", "past")); err != nil {
		t.Error(err)
	}
}
