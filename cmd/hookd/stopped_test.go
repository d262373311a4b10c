package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// A daemon may be stopped for longer than its runs may take, as on a machine that is paused. It gives
// the runs that have ended meanwhile their true results.
func TestAStoppedDaemonKnowsWhatHasEnded(t *testing.T) {
	t.Parallel()
	home, begun := t.TempDir(), filepath.Join(t.TempDir(), "begun")
	dir := filepath.Join(home, "hooks", "brief")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"HOOK.yaml": "name: brief\nevents: [agent:step]\ncommand: ./brief.sh\ntimeout: 2s\n",
		"brief.sh":  "#!/bin/sh\necho >> " + begun + "\nsleep 0.5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(hookdBinary(t, home), "serve", "--fire-startup=false")
	cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+home)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	c := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	hooktest.Until(t, "hookd is ready", func() bool { return c.Ready(t.Context()) == nil })
	const runs = 8
	for range runs {
		if _, err := c.Emit(t.Context(), client.Event{Event: "agent:step", Data: json.RawMessage(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	hooktest.Until(t, "all runs have begun", func() bool {
		text, _ := os.ReadFile(begun)
		return len(text) == runs
	})
	stopped := time.Now()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "all deadlines have passed, and the time to kill", func() bool { return time.Since(stopped) > 6*time.Second })
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "all runs have ended", func() bool {
		list, err := c.Runs(t.Context(), client.RunQuery{Limit: 50})
		return err == nil && len(list) == runs
	})
	list, err := c.Runs(t.Context(), client.RunQuery{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.Result != client.ResultOK {
			t.Errorf("a run that has ended is %s: %s", r.Result, r.Error)
		}
	}
}
