package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/wire"
)

// stranger makes each peer a user who is neither the daemon's user nor root.
func stranger(o *Options) {
	o.Public = true
	o.isOwner = func(peer.Process) bool { return false }
	o.Program = func(int) string { return "/bin/agent" }
}

// Users of a public server may send events, and nothing else is for them.
func TestStrangerMaySendEventsOnly(t *testing.T) {
	f := start(t, stranger)
	var open []string
	for _, r := range f.server.routes() {
		target := strings.NewReplacer("{id}", "x", "{name}", "x", "{agent}", "x").Replace(r.path)
		res, body := f.do(r.method, target, `{"event":"agent:end"}`)
		if refused := res.StatusCode == http.StatusForbidden; refused == (r.access == everyUser) {
			t.Errorf("%s %s, which is for %s: %d %s", r.method, target, r.access, res.StatusCode, body)
		}
		if r.access == everyUser {
			open = append(open, r.method+" "+r.path)
		}
	}
	if want := []string{"POST /v1/events", "POST /v1/boxes/{id}", "POST /v1/boxes/{id}/end", "GET /healthz"}; !slices.Equal(open, want) {
		t.Errorf("for every user are %q, want %q", open, want)
	}
	if got := code(t, f.dial().ask(`{"subscribe":["*"]}`)); got != string(wire.CodeForbidden) {
		t.Errorf("a subscription got %s", got)
	}
	if got := code(t, f.dial().ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("a line got %s", got)
	}
	if from := f.peer.Load(); from.Owner || from.Program != "/bin/agent" {
		t.Errorf("the peer is %+v", from)
	}
}

// A user gets the verdict, and no hook, run or number.
func TestStrangerGetsTheVerdictOnly(t *testing.T) {
	f := start(t, stranger)
	close(f.release)
	wait := `{"event":"test:wait","wait":true}`
	_, web := f.do("POST", "/v1/events", wait)
	for _, got := range []string{f.dial().ask(wait), web} {
		if r := parseReply(t, got); r.Verdict == nil || strings.Contains(got, `"runs"`) ||
			!strings.Contains(got, `"matched":[]`) || !strings.Contains(got, `"seq":0`) {
			t.Errorf("got %s", got)
		}
	}
}

// One user does not take the connections of all others.
func TestStrangersShareConnections(t *testing.T) {
	f := start(t, func(o *Options) { stranger(o); o.MaxConns = 8 })
	held := []*line{f.dial(), f.dial()}
	for _, l := range held {
		if got := code(t, l.ask(`{"event":"agent:end"}`)); got != "ok" {
			t.Fatal(got)
		}
	}
	more := f.dial()
	if got := code(t, more.read()); got != string(wire.CodeQueueFull) {
		t.Errorf("one too many got %s", got)
	}
	more.Close()
	held[0].Close()
	hooktest.Until(t, "its place is free", func() bool {
		next := f.dial()
		defer next.Close()
		next.send(`{"event":"agent:end"}` + "\n")
		return strings.Contains(next.read(), `"ok":true`)
	})
}
