package shims

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer/peertest"
)

// The plugins give nothing to a process of another user in hookd's place, and
// take no verdict from it.
func TestForeignListener(t *testing.T) {
	for agent, call := range map[string]struct {
		name string
		args answer
		deny string
	}{
		"opencode": {"tool", bash("rm -rf /"), "thrown"},
		"openclaw": {"on", answer{"name": "before_tool_call", "event": answer{"toolName": "exec", "params": answer{"command": "rm -rf /"}}}, "answer"},
	} {
		t.Run(agent, func(t *testing.T) {
			socket := filepath.Join(hooktest.ShortDir(t), "s")
			foreign := peertest.ListenAs(t, peertest.OtherUser, socket)
			got := make(chan string, 10)
			go func() { // answers allow to all that come
				for {
					conn, err := foreign.Accept()
					if err != nil {
						return
					}
					io.WriteString(conn, `{"ok":true,"verdict":{"allowed":true,"continue":true}}`+"\n")
					all, _ := io.ReadAll(conn)
					conn.Close()
					got <- string(all)
				}
			}()
			link := filepath.Join(hooktest.ShortDir(t), "home")
			if err := os.Symlink(filepath.Dir(socket), link); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{socket, filepath.Join(link, "s")} {
				p := plug(t, agent, path, "HOOKD_FAIL_CLOSED=1")
				if text := fmt.Sprint(p.call(call.name, call.args)[call.deny]); !strings.Contains(text, "hookd could not check this") {
					t.Errorf("%s: got %s", path, text)
				}
				warned := fmt.Sprint(p.call("warned", nil)["warned"])
				if !strings.Contains(warned, "another user may listen") || !strings.Contains(warned, "LIBREFANG_HOME") && !strings.Contains(warned, "chmod go-w") {
					t.Errorf("%s: warned %s", path, warned)
				}
			}
			select {
			case sent := <-got:
				t.Errorf("the other user was connected to, and sent %q", sent)
			default:
			}
		})
	}
}

// A path that others could change is not followed, whichever process listens there now:
// not with the socket's folder open to all or to a group, nor with a link to it
// in such a folder.
func TestChangeablePath(t *testing.T) {
	h := newHouse(t)
	above := hooktest.ShortDir(t)
	link := filepath.Join(above, "home")
	if err := os.Symlink(h.home, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{h.socket, filepath.Join(link, "hookd.sock")} {
		plug(t, "opencode", path).wants("tool", bash("rm -rf /"), `{"thrown":"no rm -rf"}`)
	}
	for _, c := range []struct {
		path, open string
		mode       os.FileMode
	}{
		{h.socket, h.home, 0o777},
		{h.socket, h.home, 0o770},
		{filepath.Join(link, "hookd.sock"), above, 0o777},
	} {
		if err := os.Chmod(c.open, c.mode); err != nil {
			t.Fatal(err)
		}
		p := plug(t, "opencode", c.path)
		p.wants("tool", bash("rm -rf /"), `{"args":{"command":"rm -rf /","description":"d"}}`)
		if warned := fmt.Sprint(p.call("warned", nil)["warned"]); !strings.Contains(warned, "chmod go-w "+c.open) {
			t.Errorf("%s, with mode %o of %s: warned %s", c.path, c.mode, c.open, warned)
		}
		if err := os.Chmod(c.open, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
