package client

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system/systemtest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// decider answers events with the verdict that say gives on their data.
type decider struct {
	say  func(data string) *verdict.Verdict
	mu   sync.Mutex
	seen []string
}

func (d *decider) Begin(_ server.Peer, env *events.Envelope) (wire.Answer, server.Rest, *wire.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, string(env.Data))
	if strings.Contains(string(env.Data), "refuse") {
		return wire.Answer{}, nil, &wire.Error{Code: wire.CodeQueueFull, Message: "full"}
	}
	a := wire.Answer{EventID: "id", Matched: []string{}, Warnings: []string{}}
	if env.Wait {
		a.Verdict = d.say(string(env.Data))
	}
	return a, nil, nil
}

func (d *decider) Emit(_ context.Context, from server.Peer, env *events.Envelope) (wire.Answer, *wire.Error) {
	a, _, bad := d.Begin(from, env)
	return a, bad
}

func (d *decider) saw() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.seen)
}

func (d *decider) serve(t *testing.T, socket string) *decider {
	t.Helper()
	s, err := server.Listen(server.Options{Socket: socket, Emitter: d})
	hooktest.Must(t, err)
	hooktest.Run(t, s.Serve)
	return d
}

func nothing(string) *verdict.Verdict { return &verdict.Verdict{Allowed: true, Continue: true} }

func deny(why string) *verdict.Verdict { return &verdict.Verdict{Continue: true, Message: why} }

// both has a system daemon and the user's own one.
func both(t *testing.T, upper, lower func(string) *verdict.Verdict) (up, low *decider, c *Client) {
	t.Helper()
	p := systemtest.Place(t, "required: true\n")
	own := filepath.Join(hooktest.ShortDir(t), "s")
	return (&decider{say: upper}).serve(t, p.Socket), (&decider{say: lower}).serve(t, own),
		New(Options{Socket: own, Timeout: time.Minute})
}

func call(command string) Event {
	data, _ := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	return Event{Event: "PreToolUse", Dialect: "claude-code", Data: data}
}

// The user's own daemon can only tighten the verdict of the system daemon.
func TestOwnDaemonOnlyTightens(t *testing.T) {
	guard := func(data string) *verdict.Verdict {
		v := nothing(data)
		switch {
		case strings.Contains(data, "rm -rf"):
			v = deny("no rm")
			v.DecidedBy = []string{"guard"}
		case strings.Contains(data, "push"):
			v.PermissionDecision, v.DecisionReason = "ask", "really?"
		case strings.Contains(data, "raw"):
			v.UpdatedInput = json.RawMessage(strings.Replace(`{"command":"safe"}`, "raw", "safe", 1))
		}
		return v
	}
	loose := func(data string) *verdict.Verdict {
		v := nothing(data)
		v.PermissionDecision, v.PermissionAllowed, v.AdditionalContext = "allow", true, "own"
		switch {
		case strings.Contains(data, "harmless"):
			v.UpdatedInput = json.RawMessage(`{"command":"rm -rf /"}`)
		case strings.Contains(data, "other"):
			v.UpdatedInput = json.RawMessage(`{"command":"ls"}`)
		case strings.Contains(data, "mine"):
			v = deny("own guard")
		}
		return v
	}
	up, low, c := both(t, guard, loose)
	for _, tt := range []struct {
		command    string
		allowed    bool
		permission string
		input      string
		message    string
	}{
		{"rm -rf /", false, "", "", "no rm"},
		{"git push", true, "ask", "", ""},
		{"ls", true, "allow", "", ""},
		{"harmless", false, "allow", `{"command":"rm -rf /"}`, "no rm"}, // the new input is checked, too
		{"other", true, "allow", `{"command":"ls"}`, ""},
		{"raw", true, "allow", `{"command":"safe"}`, ""},
		{"mine", false, "", "", "own guard"},
	} {
		v, err := c.Decide(t.Context(), call(tt.command))
		if err != nil || v.Allowed != tt.allowed || v.PermissionDecision != tt.permission ||
			string(v.UpdatedInput) != tt.input || v.Message != tt.message {
			t.Errorf("%s: %+v, %v", tt.command, v, err)
		}
	}
	if v, _ := c.Decide(t.Context(), call("rm -rf /")); !slices.Equal(v.DecidedBy, []string{"system:guard"}) {
		t.Errorf("decided by %q", v.DecidedBy)
	}
	if strings.Contains(strings.Join(low.saw(), ""), `"rm -rf`) {
		t.Error("the user's own daemon has got a call that the system daemon denied")
	}
	if !strings.Contains(strings.Join(low.saw(), ""), `"safe"`) {
		t.Error("it has not got the input as the system daemon has rewritten it")
	}
	if len(up.saw()) == 0 {
		t.Error("the system daemon was not asked")
	}
}

// With required, every way in which the system daemon does not answer denies, also if the
// user's own daemon allows everything.
func TestRequiredWithoutAnswer(t *testing.T) {
	p := systemtest.Place(t, "required: true\n")
	own := filepath.Join(hooktest.ShortDir(t), "s")
	(&decider{say: nothing}).serve(t, own)
	c := New(Options{Socket: own, Timeout: time.Minute})
	denied := func(what, why string) {
		t.Helper()
		v, err := c.Decide(t.Context(), call("ls"))
		if err != nil || v.Allowed || !strings.Contains(v.Message, why) || !strings.Contains(v.Message, "required: true") {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	denied("not there", "hookd is not running")
	hooktest.Must(t, os.WriteFile(p.Socket, nil, 0o600))
	denied("no socket", "hookd is not running")
	hooktest.Must(t, os.Remove(p.Socket))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	hooktest.Must(t, err)
	defer syscall.Close(fd)
	hooktest.Must(t, errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: p.Socket}), syscall.Listen(fd, 5)))
	denied("stopped", "no answer from hookd in time") // it takes connections and answers nothing
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if v, err := c.Decide(ctx, call("ls")); err != nil || v.Allowed {
		t.Errorf("until its deadline: %+v, %v", v, err)
	}
	if v, err := c.Decide(t.Context(), Event{Event: "Stop", Dialect: "claude-code"}); err != nil || !v.Allowed ||
		!strings.Contains(v.SystemMessage, "required") {
		t.Errorf("a denied stop would make the agent go on for ever: %+v, %v", v, err)
	}
}

// Without required, a machine goes on while the system daemon does not run. A system
// daemon that refuses an event denies it all the same.
func TestNotRequired(t *testing.T) {
	p := systemtest.Place(t, "required: false\n")
	own := filepath.Join(hooktest.ShortDir(t), "s")
	c := New(Options{Socket: own, Timeout: time.Minute})
	if _, err := c.Decide(t.Context(), call("ls")); !errors.Is(err, ErrNotRunning) {
		t.Errorf("neither runs: %v", err)
	}
	(&decider{say: func(string) *verdict.Verdict { return deny("own") }}).serve(t, own)
	if v, err := c.Decide(t.Context(), call("ls")); err != nil || v.Message != "own" {
		t.Errorf("got %+v, %v", v, err)
	}
	(&decider{say: nothing}).serve(t, p.Socket)
	if v, err := c.Decide(t.Context(), call("refuse")); err != nil || v.Allowed || !strings.Contains(v.Message, "full") {
		t.Errorf("refused: %+v, %v", v, err)
	}
	alone := New(Options{Socket: filepath.Join(hooktest.ShortDir(t), "none"), Timeout: time.Minute})
	a, err := alone.EmitWait(t.Context(), call("ls"))
	if err != nil || !a.Verdict.Allowed || !errors.Is(a.Own(), ErrNotRunning) {
		t.Errorf("the system daemon alone: %+v, %v, %v", a.Verdict, a.Own(), err)
	}
}

// Both daemons get an event that nothing waits for, in a batch, too.
func TestBothGetEvents(t *testing.T) {
	up, low, c := both(t, nothing, nothing)
	var list []Event
	for range 200 {
		list = append(list, Event{Event: "agent:end", Data: json.RawMessage(`{"n":1}`)}, call("ls"))
		list[len(list)-1].Wait = true
	}
	replies, err := c.EmitAll(t.Context(), list)
	hooktest.Must(t, err)
	for i, r := range replies {
		if r.Err != nil || (r.Answer.Verdict != nil) != list[i].Wait {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	if len(up.saw()) != len(list) || len(low.saw()) != len(list) {
		t.Errorf("the system daemon has %d events, the own one %d, of %d", len(up.saw()), len(low.saw()), len(list))
	}
}
