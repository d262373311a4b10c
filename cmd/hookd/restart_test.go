package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/proc"
)

// A daemon in the background is replaced by another one, with the hooks and events that were there.
func TestRestartInTheBackground(t *testing.T) {
	home := hooktest.ShortDir(t)
	managers := t.TempDir()
	writeStandIn(t, filepath.Join(managers, "systemctl"), "exit 1")
	writeStandIn(t, filepath.Join(managers, "launchctl"), "exit 1")
	t.Setenv("PATH", managers+":"+os.Getenv("PATH"))
	t.Setenv("LIBREFANG_HOME", home)
	hooktest.Hook(t, home, "note", "events: [step]\n", "exit 0\n")
	hooktest.Serve(t, home)
	c := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	hooktest.Until(t, "it answers", func() bool { return c.Ready(t.Context()) == nil })
	before, err := c.Status(t.Context())
	hooktest.Must(t, err)
	if out, err := exec.Command(filepath.Join(hooktest.Programs(t), "hookd"), "daemon", "restart").CombinedOutput(); err != nil {
		t.Fatalf("restart: %v\n%s", err, out)
	}
	after, err := c.Status(t.Context())
	hooktest.Must(t, err)
	t.Cleanup(func() {
		_ = syscall.Kill(after.PID, syscall.SIGTERM)
		hooktest.Until(t, "it has ended", func() bool { return proc.Ended(after.PID) })
	})
	if after.PID == before.PID || after.Hooks["ok"] != before.Hooks["ok"] {
		t.Errorf("got pid %d, hooks %v after %d, %v", after.PID, after.Hooks, before.PID, before.Hooks)
	}
}
