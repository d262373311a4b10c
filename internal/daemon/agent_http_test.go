package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/door/loopback"
)

// A port that another process holds does not stop the daemon: all else works,
// status says why agents cannot call, the token that was shown to that process is
// changed at once, and agents get the new one when the port is hookd's.
func TestHeldPort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	listen := other.Addr().String()
	home := newHome(t)
	shown, err := loopback.Token(config.Default(home).TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	var shared atomic.Pointer[string]
	h := startWith(t, home, func(o *Options) {
		o.Config.HTTPListen = listen
		o.ShareToken = func(token string) error { shared.Store(&token); return nil }
	})
	h.emit(`{"event":"agent:end"}`)
	st, err := h.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.HTTP == nil || st.HTTP.Open || !strings.Contains(st.HTTP.Error, "another process holds the port") ||
		len(st.Problems) != 1 {
		t.Errorf("status says %+v, %+v", st.HTTP, st.Problems)
	}
	if n := h.logs.FilterMessageSnippet("another process holds the port").Len(); n != 1 {
		t.Errorf("%d warnings", n)
	}
	token, err := loopback.Token(h.config.TokenFile())
	if err != nil || token == shown {
		t.Errorf("the token is still %q, %v", token, err)
	}
	if got := shared.Load(); got != nil {
		t.Error("agents were given the new token while the other process listens")
	}

	other.Close()
	h.until("it listens", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && st.HTTP.Open && len(st.Problems) == 0
	})
	if got := shared.Load(); got == nil || *got != token {
		t.Errorf("agents were given %v, want %s", got, token)
	}
	for shows, want := range map[string]int{shown: 401, token: 200} {
		r, err := http.NewRequestWithContext(
			t.Context(),
			"POST",
			loopback.URL(listen, "claude-code"),
			bytes.NewReader([]byte(`{"session_id":"s","hook_event_name":"SessionEnd"}`)),
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+shows)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("got %d, want %d", resp.StatusCode, want)
		}
	}
}

// A token that other users could read is changed before it listens, and given
// to the agents.
func TestExposedToken(t *testing.T) {
	home := newHome(t)
	file := config.Default(home).TokenFile()
	exposed, err := loopback.Token(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	var shared atomic.Pointer[string]
	h := startWith(t, home, func(o *Options) {
		o.Config.HTTPListen = "127.0.0.1:0"
		o.ShareToken = func(token string) error { shared.Store(&token); return nil }
	})
	token, err := loopback.Token(file)
	if got := shared.Load(); err != nil || token == exposed || got == nil || *got != token {
		t.Errorf("the token is %q after %q, agents were given %v, %v", token, exposed, got, err)
	}
	if h.logs.FilterMessageSnippet("others could read the HTTP token").Len() != 1 {
		t.Error("no warning")
	}
}

// A start that fails gives back everything it has taken: the port, the lock, the socket and the
// database.
func TestAFailedStartHoldsNothing(t *testing.T) {
	c := config.Default(newHome(t))
	c.HTTPListen, c.MetricsListen = fmt.Sprint("127.0.0.1:", hooktest.FreePort(t)), "0.0.0.0:0"
	if _, err := New(Options{Config: c}); !errors.Is(err, loopback.ErrNotLoopback) {
		t.Fatalf("got %v, want a refusal of metrics.listen", err)
	}
	again, err := net.Listen("tcp", c.HTTPListen)
	if err != nil {
		t.Errorf("the port for agents is still held: %v", err)
	} else {
		hooktest.Must(t, again.Close())
	}
	startWith(t, c.Home, func(o *Options) { o.Config.HTTPListen = c.HTTPListen }).emit(`{"event":"agent:end"}`)
}
