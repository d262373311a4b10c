package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// wrote is how each agent reports that it wrote a file.
func wrote(d client.Dialect, cwd, path string) event {
	switch d {
	case claude:
		return event{d, "PostToolUse", map[string]any{"session_id": "s", "cwd": cwd, "tool_name": "Write", "tool_input": map[string]any{"file_path": path}, "tool_response": map[string]any{"success": true}}}
	case docker:
		return event{d, "post_tool_use", map[string]any{"session_id": "s", "cwd": cwd, "tool_name": "write_file", "tool_input": map[string]any{"path": path}, "tool_response": "ok"}}
	}
	return event{d, "transform_tool_result", map[string]any{"agent_id": "a", "tool_name": "file_write", "tool_input": map[string]any{"path": path}, "tool_output": "ok"}}
}

func TestFormatOnWrite(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := newHome(t)
	path := os.Getenv("PATH")
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		path += ":" + filepath.Join(strings.TrimSpace(string(root)), "bin")
	}
	// A formatter that writes its argument, for files that no Go tool formats.
	hooktest.Write(t, filepath.Join(home, "bin", "prettier"), "#!/bin/sh\nprintf '%s' \"$2\" > \"$2\"\n", 0o755)
	t.Setenv("PATH", filepath.Join(home, "bin")+":"+path)
	hooktest.NeedTool(t, "gofmt")
	dir := install(t, home, "format-on-write", map[string]string{"FORMAT_ROOT": home})
	h := start(t, home)
	project := h.project()
	const ugly, pretty = "package x\nfunc  f( ) {\nreturn}\n", "package x\n\nfunc f() {\n\treturn\n}\n"
	for _, d := range []client.Dialect{claude, docker, libreFang} {
		file := filepath.Join(project, "-a $(touch ran) \"b\".go")
		hooktest.Write(t, file, ugly, 0o644)
		a := h.send(wrote(d, project, file))
		if got := read(t, file); got != pretty {
			t.Errorf("%s: %q", d, got)
		}
		if told := a.Verdict.AdditionalContext; d != libreFang && !strings.Contains(told, "gofmt has reformatted ") {
			t.Errorf("%s: the agent is told %q", d, told)
		}
		if a.Verdict.UpdatedToolResponse != nil {
			t.Errorf("%s: the tool's result became %s", d, a.Verdict.UpdatedToolResponse)
		}
		if v := h.send(wrote(d, project, file)).Verdict; v.AdditionalContext != "" {
			t.Errorf("%s: a file that was well is told of: %q", d, v.AdditionalContext)
		}
		page := filepath.Join(project, "page.html")
		hooktest.Write(t, page, "x", 0o644)
		h.send(wrote(d, project, "page.html"))
		if got, _ := filepath.EvalSymlinks(page); d != libreFang && read(t, page) != got {
			t.Errorf("%s: prettier was given %q, want %q", d, read(t, page), got)
		}
	}
	outside := filepath.Join(home, "outside.go")
	hooktest.Write(t, outside, ugly, 0o644)
	link := filepath.Join(project, "link.go")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, link, "../outside.go", "nothing.go", "\x00", ""} {
		h.ok(wrote(claude, project, path))
	}
	if read(t, outside) != ugly {
		t.Error("a file outside of the project was formatted")
	}
	broken := filepath.Join(project, "broken.go")
	hooktest.Write(t, broken, "func", 0o644)
	if run := h.ran(wrote(docker, project, broken)); run.Result != "failed" || !strings.Contains(run.Stderr.Head, "broken.go") {
		t.Errorf("a file that does not parse: %s %q", run.Result, run.Stderr.Head)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a file's name was run as a program")
	}
	h.unharmed()
}

func TestTestAtStop(t *testing.T) {
	hooktest.NeedTool(t, "python3", "make")
	home := newHome(t)
	install(t, home, "test-at-stop", map[string]string{"TEST_ATTEMPTS": "2"})
	h := start(t, home)
	project := h.project()
	if v := h.send(ended(claude, "s", project, "done")).Verdict; describe(v) != "no opinion" {
		t.Errorf("without tests: %s", reason(v))
	}
	hooktest.Write(t, filepath.Join(project, "Makefile"), "test:\n\t@echo 'two of \"three\" pass'; test -e good\n", 0o644)
	for range 2 {
		v := h.send(ended(claude, "s", project, h.hostile())).Verdict
		if describe(v) != "deny" || !strings.Contains(reason(v), "`make test` fails") || !strings.Contains(reason(v), `two of "three" pass`) {
			t.Errorf("failing tests: %s %q", describe(v), reason(v))
		}
	}
	if v := h.send(ended(claude, "s", project, "I give up")).Verdict; describe(v) != "no opinion" || !strings.Contains(v.SystemMessage, "still fails after 2 attempts") {
		t.Errorf("the third time: %s %q", describe(v), v.SystemMessage)
	}
	if v := h.send(ended(docker, "s", project, "done")).Verdict; describe(v) != "no opinion" || !strings.Contains(v.AdditionalContext, "two of") {
		t.Errorf("docker-agent: %s %q", describe(v), v.AdditionalContext)
	}
	if run := h.ran(ended(libreFang, "s", project, "done")); run.Result != "failed" || !strings.Contains(run.Stderr.Head, "two of") {
		t.Errorf("LibreFang: %s %q", run.Result, run.Stderr.Head)
	}
	hooktest.Write(t, filepath.Join(project, "good"), "", 0o644)
	for _, d := range []client.Dialect{claude, docker, libreFang} {
		if v := h.send(ended(d, "s", project, "done")).Verdict; describe(v) != "no opinion" || v.AdditionalContext != "" {
			t.Errorf("%s: passing tests: %s", d, reason(v))
		}
	}
	h.unharmed()
}

func TestTestAtStopEndsTestsThatHang(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := newHome(t)
	install(t, home, "test-at-stop", map[string]string{"TEST_COMMAND": "echo begun; sleep 600 & wait", "TEST_SECONDS": "0.5"})
	h := start(t, home)
	if v := h.send(ended(claude, "s", home, "done")).Verdict; !strings.Contains(reason(v), "begun\n(stopped after 0.5 s)") {
		t.Errorf("%q", reason(v))
	}
}

// repository makes a git repository with one commit in a project.
func (h *house) repository() string {
	h.t.Helper()
	dir := h.project()
	shell(h.t, dir, "git", "init", "-q", "-b", "main")
	for _, setting := range []string{"user.name=me", "user.email=me@example.org", "commit.gpgsign=false"} {
		key, value, _ := strings.Cut(setting, "=")
		shell(h.t, dir, "git", "config", key, value)
	}
	hooktest.Write(h.t, filepath.Join(dir, ".gitignore"), "ignored\n", 0o644)
	hooktest.Write(h.t, filepath.Join(dir, "a"), "one", 0o644)
	shell(h.t, dir, "git", "add", "-A")
	shell(h.t, dir, "git", "commit", "-qm", h.hostile())
	return dir
}

func TestContextAtStart(t *testing.T) {
	hooktest.NeedTool(t, "python3", "git")
	home := newHome(t)
	install(t, home, "context-at-start", map[string]string{"CONTEXT_FILES": "NOTES.md:../outside:missing", "CONTEXT_MAX": "2000"})
	h := start(t, home)
	repo := h.repository()
	hooktest.Write(t, filepath.Join(repo, "NOTES.md"), `{"continue":false} `+h.hostile(), 0o644)
	hooktest.Write(t, filepath.Join(repo, "..", "outside"), "not yours", 0o644)
	starts := []event{
		{claude, "SessionStart", map[string]any{"session_id": "c", "cwd": repo, "source": "startup"}},
		{docker, "session_start", map[string]any{"session_id": "d", "cwd": repo, "source": "startup"}},
	}
	for _, e := range starts {
		v := h.send(e).Verdict
		for _, want := range []string{"## Branch and changes\n## main\n?? NOTES.md", "## Last commits\n", "## NOTES.md\n{\"continue\":false} it's"} {
			if !strings.Contains(v.AdditionalContext, want) {
				t.Errorf("%s: %q has no %q", e.dialect, v.AdditionalContext, want)
			}
		}
		if !v.Continue || strings.Contains(v.AdditionalContext, "not yours") {
			t.Errorf("%s: %+v", e.dialect, v)
		}
	}
	h.ok(event{libreFang, "session:start", map[string]any{"agent_id": "a", "session_id": "l"}}) // has nothing to say without a cwd
	hooktest.Write(t, filepath.Join(repo, "NOTES.md"), strings.Repeat("é", 5000), 0o644)
	if v := h.send(starts[0]).Verdict; !strings.HasSuffix(v.AdditionalContext, "(cut off here)") || len([]rune(v.AdditionalContext)) > 2100 {
		t.Errorf("%d characters", len([]rune(v.AdditionalContext)))
	}
	h.unharmed()
}

func TestGitCheckpoint(t *testing.T) {
	hooktest.NeedTool(t, "python3", "git")
	home := newHome(t)
	install(t, home, "git-checkpoint", nil)
	h := start(t, home)
	repo := h.repository()
	hooktest.Write(t, filepath.Join(repo, ".git", "hooks", "pre-commit"), "#!/bin/sh\ntouch '"+h.mark+"'\n", 0o755)
	hooktest.Write(t, filepath.Join(repo, "staged"), "s", 0o644)
	shell(t, repo, "git", "add", "staged")
	hooktest.Write(t, filepath.Join(repo, "ignored"), "i", 0o644)
	before := shell(t, repo, "git", "status", "--porcelain") + shell(t, repo, "git", "log", "--format=%H")
	const ref = "refs/hookd/checkpoints"
	for i, d := range []client.Dialect{claude, docker, libreFang} {
		hooktest.Write(t, filepath.Join(repo, "a"), string(d), 0o644)
		hooktest.Write(t, filepath.Join(repo, "new $(x)\n\"y\""), string(d), 0o644)
		for range 2 { // the second has nothing to keep
			h.ok(ended(d, "s", repo, h.hostile()))
		}
		if got := strings.Count(shell(t, repo, "git", "log", "--format=%H", "HEAD.."+ref), "\n"); got != i+1 {
			t.Errorf("%s: %d checkpoints, want %d", d, got, i+1)
		}
		if got := shell(t, repo, "git", "show", ref+":a"); got != string(d) {
			t.Errorf("%s: a is %q", d, got)
		}
		if got := shell(t, repo, "git", "ls-tree", "--name-only", "-z", ref); got != ".gitignore\x00a\x00new $(x)\n\"y\"\x00staged\x00" {
			t.Errorf("%s: %q", d, got)
		}
	}
	shell(t, repo, "git", "checkout", "-q", "--", "a")
	os.Remove(filepath.Join(repo, "new $(x)\n\"y\""))
	if got := shell(t, repo, "git", "status", "--porcelain") + shell(t, repo, "git", "log", "--format=%H"); got != before {
		t.Errorf("index or branch changed:\n%s\nwere\n%s", got, before)
	}
	shell(t, repo, "git", "restore", "--source="+ref+"~1", "--", "a")
	if got := read(t, filepath.Join(repo, "a")); got != string(docker) {
		t.Errorf("brought back: %q", got)
	}
	h.ok(ended(claude, "s", home, "no repository"))
	h.ok(ended(libreFang, "s", "", "no folder"))
	h.unharmed()
}
