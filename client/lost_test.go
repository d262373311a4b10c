package client

import (
	"bufio"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// hangsUp is a daemon that reads some lines and closes the connection.
func hangsUp(t *testing.T, lines int) *Client {
	t.Helper()
	path := filepath.Join(hooktest.ShortDir(t), "s")
	l, err := net.Listen("unix", path)
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
			in := bufio.NewReader(conn)
			for range lines {
				in.ReadString('\n')
			}
			conn.Close()
		}
	}()
	return New(Options{Socket: path})
}

// A connection that is lost after an event is worth another try where the event
// has an ID, and only there.
func TestLostEventIsRetryableWithAnID(t *testing.T) {
	c := hangsUp(t, 1)
	for id, want := range map[string]bool{"": false, "mine": true} {
		ev := Event{Event: "agent:end", ID: id}
		for name, call := range map[string]func() error{
			"emit":      func() error { _, err := c.Emit(t.Context(), ev); return err },
			"emit wait": func() error { _, err := c.EmitWait(t.Context(), ev); return err },
			"decide":    func() error { _, err := c.Decide(t.Context(), ev); return err },
			"emit all":  func() error { _, err := c.EmitAll(t.Context(), []Event{ev}); return err },
		} {
			err := call()
			if !errors.Is(err, io.ErrUnexpectedEOF) || Retryable(err) != want {
				t.Errorf("%s with id %q: %v is retryable: %v", name, id, err, Retryable(err))
			}
		}
	}
	mixed := []Event{{Event: "a:b", ID: "1"}, {Event: "a:b"}, {Event: "a:b", ID: "3"}}
	replies, err := c.EmitAll(t.Context(), mixed)
	if err == nil || Retryable(err) {
		t.Fatalf("%v: all of them can be sent again: %v", err, Retryable(err))
	}
	for i, r := range replies {
		if !errors.Is(r.Err, io.ErrUnexpectedEOF) || Retryable(r.Err) != (mixed[i].ID != "") {
			t.Errorf("event %d: %v is retryable: %v", i, r.Err, Retryable(r.Err))
		}
	}
	if err := c.Ready(t.Context()); Retryable(err) {
		t.Errorf("%v is no event", err)
	}
}

// The zero Client speaks to the user's own daemon.
func TestZeroClient(t *testing.T) {
	_, c := start(t)
	t.Setenv("HOOKD_SOCKET", c.Socket())
	var zero Client
	if _, err := zero.Emit(t.Context(), Event{Event: "agent:end"}); err != nil {
		t.Error(err)
	}
	if zero.Socket() != c.Socket() {
		t.Errorf("it dials %s", zero.Socket())
	}
}
