package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// TestAFollowedFleet kills the daemon that a follower asks, and ends the servers of the
// fleet. The follower says so, goes on when they are back, and has missed no decision.
func TestAFollowedFleet(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t, nil)
	servers := []string{server.URL()}
	asked, other := newMember(t, "asked", servers, inEnv), newMember(t, "other", servers, inEnv)
	hooktest.Until(t, "the machine sees the other", func() bool {
		f, err := asked.client.Fleet(t.Context())
		return err == nil && f.Unread == "" && len(f.Machines) == 2
	})
	hooktest.Write(t, filepath.Join(other.home, "hooks", "guard", "HOOK.yaml"), "name: guard\nevents: [PreToolUse]\n"+ // starts nothing
		"rules: [{name: cat, deny: {effect: read, path: [/*]}, why: it reads, instead: do not}]\n", 0o644)
	hooktest.Until(t, "the guard is loaded", func() bool {
		hook, err := other.client.Hook(t.Context(), "guard")
		return err == nil && hook.Name == "guard"
	})
	out, said := filepath.Join(asked.home, "out"), filepath.Join(asked.home, "said")
	follow := followInto(t, asked, out, said)

	decide(t, other, 1)
	hooktest.Until(t, "the first decision is shown", func() bool { return strings.Contains(content(t, out), "/1 ") })

	asked.kill()
	hooktest.Until(t, "the loss of the daemon is told", func() bool { return strings.Contains(content(t, said), "hookd has gone") })
	var deciding sync.WaitGroup
	for worker := range 8 {
		deciding.Go(func() {
			for n := 2 + worker; n <= fleetPart+100; n += 8 { // more than one answer has
				decide(t, other, n)
			}
		})
	}
	deciding.Wait()
	asked.start()
	hooktest.Until(t, "the newest decision is shown", func() bool {
		return strings.Contains(content(t, out), fmt.Sprintf("/%d ", fleetPart+100))
	})

	server.Stop()
	hooktest.Until(t, "the loss of the servers is told", func() bool {
		return strings.Count(content(t, said), "Ctrl-C ends") == 2
	})
	decide(t, other, fleetPart+101)
	server.Run()
	hooktest.Until(t, "the last decision is shown", func() bool {
		return strings.Contains(content(t, out), fmt.Sprintf("/%d ", fleetPart+101))
	})
	hooktest.Must(t, follow.Process.Signal(syscall.SIGINT))
	hooktest.Must(t, follow.Wait())

	shown := content(t, out)
	for n := 1; n <= fleetPart+101; n++ {
		if times := strings.Count(shown, fmt.Sprintf("/%d ", n)); times != 1 {
			t.Errorf("decision %d is shown %d times", n, times)
		}
	}
	if got := strings.Count(content(t, said), "hookd is back"); got != 2 {
		t.Errorf("the follower said %d times that hookd is back", got)
	}
}

// followInto starts `decisions --fleet -f` with the daemon of a machine.
func followInto(t *testing.T, m *member, out, said string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(hookdBinary(t, m.home), "decisions", "--fleet", "-f")
	cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+m.home)
	var err error
	cmd.Stdout, err = os.Create(out)
	hooktest.Must(t, err)
	cmd.Stderr, err = os.Create(said)
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if t.Failed() {
			t.Logf("the follower said\n%s", content(t, said))
		}
	})
	return cmd
}

// decide has a machine decide about its nth call.
func decide(t *testing.T, m *member, n int) {
	t.Helper()
	data := fmt.Appendf(nil, `{"tool_name":"Bash","tool_input":{"command":"cat /%d ;"}}`, n)
	_, err := m.client.EmitWait(t.Context(), client.Event{Event: "PreToolUse", Dialect: "codex", SessionID: "s", Data: data})
	if err != nil {
		t.Error(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	hooktest.Must(t, err)
	return string(raw)
}
