package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// served starts hookd with its log on a pipe, and returns the end to read.
func served(t *testing.T, args ...string) (cmd *exec.Cmd, c *client.Client, log *os.File) {
	t.Helper()
	home := hooktest.ShortDir(t)
	hook := filepath.Join(home, "hooks", "guard")
	if err := os.MkdirAll(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	yaml := "name: guard\nevents: [pre_tool_use]\ntype: script\nscript: cat >&2; exit 3\n"
	if err := os.WriteFile(filepath.Join(hook, "HOOK.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	log, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(hookdBinary(t, home), append([]string{"serve", "--fire-startup=false", "--log-level=debug", "--log-format=json"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "LIBREFANG_HOME="+home), write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); log.Close() })
	c = client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	hooktest.Until(t, "hookd is ready", func() bool { return c.Ready(t.Context()) == nil })
	return cmd, c, log
}

func decides(t *testing.T, c *client.Client, name string) {
	t.Helper()
	v, err := c.Decide(t.Context(), client.Event{Event: "pre_tool_use", Data: json.RawMessage(`{"tool_name":"` + name + `"}`)})
	if err != nil || v.Allowed {
		t.Fatalf("got %+v, %v", v, err)
	}
}

// A log that nothing reads holds up no verdict and not the end of hookd.
func TestUnreadLogHoldsNothingUp(t *testing.T) {
	t.Parallel()
	cmd, c, log := served(t)
	for range 130 {
		decides(t, c, strings.Repeat("x", 600)) // each is a line of the log, together more than a pipe holds
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("hookd ended with %v", err)
	}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	size := 0
	for lines.Scan() {
		size += len(lines.Bytes()) + 1
	}
	if size < 56<<10 { // a pipe holds 64 KiB, but breaks no line at the end of a page
		t.Errorf("the log has %d bytes: it was not full", size)
	}
}

// A closed log does not end hookd, and its hooks have SIGPIPE as ever.
func TestClosedLogEndsNothing(t *testing.T) {
	t.Parallel()
	cmd, c, log := served(t)
	log.Close()
	for range 20 {
		decides(t, c, "Bash")
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("hookd ended with %v", err)
	}
}
