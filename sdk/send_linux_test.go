package sdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer/peertest"
)

// A process of another user that listens is told nothing, also where the socket's file
// is the user's own, in a folder that others may change.
func TestSendersRefuseForeigners(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "hookd.sock")
	foreign := peertest.ListenAs(t, peertest.OtherUser, socket)
	go func() {
		for {
			conn, err := foreign.Accept()
			if err != nil {
				return
			}
			text := make([]byte, 1)
			if n, _ := conn.Read(text); n > 0 {
				t.Error("it was told something")
			}
			conn.Close()
		}
	}()
	for range 2 {
		for _, r := range runtimes(t) {
			cmd := r.command(t, "send")
			cmd.Env = append(cmd.Env, "HOOKD_SOCKET="+socket)
			if got := strings.TrimSpace(string(output(t, cmd, nil))); got != "NotRunning" && got != "not_running" {
				t.Errorf("%s: got %q, want that hookd does not run", r.name, got)
			}
		}
		hooktest.Must(t, os.Chown(socket, os.Geteuid(), -1))
	}
}
