package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/wire"
)

// listen answers each connection with serve.
func listen(t *testing.T, serve func(net.Conn)) *Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); serve(conn) }()
		}
	}()
	return New(Options{Socket: socket})
}

// A hookd that is stopped takes connections and never answers: a client that waits for a
// verdict is told, however large the event, long before the hooks' time is over.
func TestStoppedDaemonIsTold(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	c := listen(t, func(net.Conn) { <-end })
	t.Run("events", func(t *testing.T) {
		for name, data := range map[string]string{"small": `{}`, "large": `{"t":"` + strings.Repeat("x", 4<<20) + `"}`} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if _, err := c.Decide(t.Context(), Event{Event: "pre_tool_use", Data: json.RawMessage(data)}); !errors.Is(err, ErrTimeout) {
					t.Errorf("got %v, want %v", err, ErrTimeout)
				}
			})
		}
		t.Run("request", func(t *testing.T) {
			t.Parallel()
			if _, err := c.Status(t.Context()); !errors.Is(err, ErrTimeout) {
				t.Errorf("got %v, want %v", err, ErrTimeout)
			}
		})
	})
}

// A hook may take its time: a hookd that answers a ping is waited for, also an older one,
// which does not know pings and answers with an error.
func TestPing(t *testing.T) {
	for name, sign := range map[string]string{"new": wire.PongLine, "old": `{"ok":false,"error":{"code":"bad_event_name","message":"no event"}}` + "\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{})
			c := listen(t, func(conn net.Conn) {
				for in := bufio.NewScanner(conn); in.Scan(); {
					if in.Text() == wire.PingLine {
						io.WriteString(conn, sign)
						close(asked)
						continue
					}
					io.WriteString(conn, `{"ok":true,`)
					<-asked
					io.WriteString(conn, `"event_id":"1","verdict":{"allowed":false,"continue":true}}`+"\n")
				}
			})
			v, err := c.Decide(t.Context(), Event{Event: "pre_tool_use"})
			if err != nil || v.Allowed {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
}
