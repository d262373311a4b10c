package daemon

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
)

// A trusted repository whose file system has stopped to answer: events in it are
// decided, its guards deny within their deadlines, guards of others are not held up, and
// it works again with its file system. A folder in it that was not heard about counts as
// part of the repository by its path.
func TestATrustedRepositoryThatDoesNotAnswer(t *testing.T) {
	hooktest.NeedTool(t, "git")
	m := hangfs.New(t, map[string]string{"file": ""})
	home, repo := newHome(t), t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hook := filepath.Join(repo, ".hookd", "hooks", "guard")
	writeFile(t, filepath.Join(hook, "HOOK.yaml"), "name: guard\nevents: pre_tool_use\ncommand: ./run.sh\ntimeout: 300ms\n", 0o644)
	writeFile(t, filepath.Join(hook, "run.sh"), "#!/bin/sh\nexit 0\n", 0o755)
	writeHook(t, home, "mine", "events: [pre_tool_use]\n", "exit 0\n")
	c := config.Default(home)
	p, err := catalog.LookAtProject(c, repo)
	hooktest.Must(t, err)
	hooktest.Must(t, p.Trust(c))
	h := start(t, home, func(c *config.Config) { c.FireStartup, c.SlotsDecidable = false, 1 })
	in := func(dir string) string {
		return `{"event":"pre_tool_use","wait":true,"cwd":"` + dir + `","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}}}`
	}
	if a := h.emit(in(repo)); !a.Verdict.Allowed || !strings.Contains(strings.Join(a.Matched, " "), "project:guard") {
		t.Fatalf("before it hangs: %+v, matched %v", a.Verdict, a.Matched)
	}

	m.Hang() // first: a look between the two would find a repository without its hooks
	t.Cleanup(m.Answer)
	hooktest.Must(t, unix.Mount(m.Dir, repo, "", unix.MS_BIND, ""))
	t.Cleanup(func() { unix.Unmount(repo, unix.MNT_DETACH) }) // of a test that has failed: it is at its end, too
	for _, dir := range []string{repo, filepath.Join(repo, "file"), filepath.Join(repo, "new", "folder"), repo} {
		a := h.emit(in(dir))
		if a.Verdict.Allowed || !strings.Contains(strings.Join(a.Matched, " "), "project:guard") {
			t.Errorf("%s: %+v, matched %v, want a denial by its guard", dir, a.Verdict, a.Matched)
		}
	}
	if a := h.emit(in(t.TempDir())); !a.Verdict.Allowed || len(a.Matched) != 1 {
		t.Errorf("elsewhere: %+v, matched %v", a.Verdict, a.Matched)
	}
	if _, err := h.client.Status(t.Context()); err != nil {
		t.Errorf("status: %v", err)
	}

	m.Answer()
	hooktest.Must(t, unix.Unmount(repo, unix.MNT_DETACH))
	h.until("the repository answers again", func() bool { return h.emit(in(repo)).Verdict.Allowed })
}
