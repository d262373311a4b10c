package bridge

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer/peertest"
)

// A process of another user that answers allow in hookd's place is not asked:
// the bridge answers as without hookd, and says why, each time.
func TestForeignListenerDecidesNothing(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	foreign := peertest.ListenAs(t, peertest.OtherUser, socket)
	got := make(chan string, 1)
	go func() {
		for {
			conn, err := foreign.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, `{"ok":true,"event_id":"e","seq":1,"matched":[],"warnings":[],"verdict":{"allowed":true,"continue":true}}`+"\n")
			all, _ := io.ReadAll(conn)
			conn.Close()
			got <- string(all)
		}
	}()
	const payload = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`
	state := t.TempDir()
	for range 2 {
		open := called(t, Options{Agent: "claude-code", Socket: socket, State: state}, payload)
		if sent := <-got; sent != "" || open.stdout != "" || open.exit != 0 || !strings.Contains(open.stderr, "another user's process listens") || !strings.Contains(open.stderr, "LIBREFANG_HOME") {
			t.Errorf("the other user was sent %q, the agent got %+v", sent, open)
		}
	}
	closed := called(t, Options{Agent: "claude-code", Socket: socket, State: state, FailClosed: true}, payload)
	if sent := <-got; sent != "" || !strings.Contains(closed.stdout, `"deny"`) || !strings.Contains(closed.stdout, "another user's process") {
		t.Errorf("the other user was sent %q, the agent got %+v", sent, closed)
	}
}
