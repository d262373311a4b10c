package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer/peertest"
)

// Whatever is asked, a process of another user in hookd's place gets no byte, and is as
// good as no hookd. Its socket lies in a folder that others can write to, or is reached
// through a link in one.
func TestForeignListenerGetsNothing(t *testing.T) {
	home := hooktest.ShortDir(t)
	path := filepath.Join(home, "s")
	foreign := peertest.ListenAs(t, peertest.OtherUser, path)
	link := filepath.Join(hooktest.ShortDir(t), "home")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 1)
	go func() { // answers allow to all that come
		for {
			conn, err := foreign.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, `{"ok":true,"event_id":"e","seq":1,"matched":[],"warnings":[],"verdict":{"allowed":true,"continue":true}}`+"\n")
			all, _ := io.ReadAll(conn)
			conn.Close()
			got <- all
		}
	}()
	ev := Event{Event: "pre_tool_use", Data: json.RawMessage(`{"tool_name":"shell"}`)}
	for name, call := range map[string]func(context.Context, *Client) error{
		"emit":      func(ctx context.Context, c *Client) error { _, err := c.Emit(ctx, ev); return err },
		"decide":    func(ctx context.Context, c *Client) error { _, err := c.Decide(ctx, ev); return err },
		"emit all":  func(ctx context.Context, c *Client) error { _, err := c.EmitAll(ctx, []Event{ev}); return err },
		"dial":      func(ctx context.Context, c *Client) error { _, err := c.Dial(ctx); return err },
		"status":    func(ctx context.Context, c *Client) error { _, err := c.Status(ctx); return err },
		"ready":     func(ctx context.Context, c *Client) error { return c.Ready(ctx) },
		"tail":      func(ctx context.Context, c *Client) error { return c.Tail(ctx, TailOptions{}, nil) },
		"subscribe": subscribeOnce,
	} {
		for _, socket := range []string{path, filepath.Join(link, "s")} {
			err := call(t.Context(), New(Options{Socket: socket}))
			if !errors.Is(err, ErrForeign) || !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "uid 65534") {
				t.Errorf("%s of %s: %v", name, socket, err)
			}
			if sent := <-got; len(sent) > 0 {
				t.Errorf("%s of %s: the other user was sent %q", name, socket, sent)
			}
		}
	}
}

// subscribeOnce does not come back.
func subscribeOnce(ctx context.Context, c *Client) error {
	opt := SubscribeOptions{Lost: func(err error) error { return err }}
	for _, err := range c.Subscribe(ctx, opt) {
		return err
	}
	return nil
}
