package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon stands behind a real server.
type daemon struct {
	hub    *stream.Hub
	reload wire.Reload
	ready  string
	hang   chan struct{} // closed at the end of the test
}

func (d *daemon) Emit(ctx context.Context, _ server.Peer, env *events.Envelope) (wire.Answer, *wire.Error) {
	if env.Event == "test:hang" {
		<-ctx.Done()
		return wire.Answer{}, &wire.Error{Code: wire.CodeInternal}
	}
	e := &events.Event{Envelope: *env, EventID: "id-" + env.ID}
	a := wire.Answer{EventID: e.EventID, Seq: d.hub.Publish(env.Event, stream.EventRecord(e)), Warnings: env.Warnings}
	if env.Wait {
		a.Verdict = &verdict.Verdict{Message: string(env.Data)}
	}
	return a, nil
}

func (d *daemon) Subscribe(q wire.Subscribe) (server.Subscription, *wire.Error) {
	if len(q.Globs) == 1 && q.Globs[0] == "[" {
		return nil, &wire.Error{Code: wire.CodeBadRequest, Message: "bad glob"}
	}
	match := func(name string) bool { return len(q.Globs) == 0 || name == q.Globs[0] }
	return d.hub.Subscribe(match, stream.From{Since: q.Since, Epoch: q.Epoch, Once: q.Follow != nil && !*q.Follow}), nil
}

func (d *daemon) Hooks(context.Context) wire.Hooks {
	return wire.Hooks{Generation: 3, Hooks: []wire.Hook{{Name: "a"}, {Name: strings.Repeat("long", 100_000)}}}
}

func (d *daemon) Hook(_ context.Context, name string) (wire.Hook, *wire.Error) {
	if name == "none" {
		return wire.Hook{}, &wire.Error{Code: wire.CodeNotFound, Message: "no hook none", Hint: "hookd list"}
	}
	return wire.Hook{Name: name}, nil
}

func (d *daemon) RunTests(_ context.Context, _ server.Peer, name string) (wire.Tests, *wire.Error) {
	return wire.Tests{Hook: name, Tests: []wire.TestedAs{{Name: "one", OK: true}}}, nil
}

func (d *daemon) Test(_ context.Context, _ server.Peer, name string, test wire.Test) (wire.Tested, *wire.Error) {
	return wire.Tested{Given: name + " " + test.Event, Stdin: string(test.Data)}, nil
}

func (d *daemon) Runs(_ context.Context, q wire.RunQuery) (wire.Runs, *wire.Error) {
	return wire.Runs{Runs: []wire.Run{{ID: "r1", Hook: q.Hook}}}, nil
}

func (d *daemon) Run(_ context.Context, id string) (wire.Run, *wire.Error) {
	return wire.Run{ID: id}, nil
}

func (d *daemon) Running(context.Context) wire.Running {
	return wire.Running{Runs: []wire.UnderWay{{RunID: "r1", Hook: "slow"}}}
}

func (d *daemon) Kill(_ context.Context, id string) (wire.UnderWay, *wire.Error) {
	if id == "none" {
		return wire.UnderWay{}, &wire.Error{Code: wire.CodeNotFound, Message: "no run none"}
	}
	return wire.UnderWay{RunID: id}, nil
}

// Decisions answers in pages of two, numbered downwards from 5.
func (d *daemon) Decisions(_ context.Context, q wire.DecisionQuery) (wire.Decisions, *wire.Error) {
	if q.Before == 0 {
		q.Before = 6
	}
	page := wire.Decisions{Decisions: []wire.Decision{}}
	for seq := q.Before - 1; seq > 0 && len(page.Decisions) < min(2, q.Limit); seq-- {
		page.Decisions = append(page.Decisions, wire.Decision{Seq: seq, Tool: q.Tool, Decision: wire.Outcome(q.Decision)})
		page.Next = seq
	}
	if page.Next <= 1 {
		page.Next = 0
	}
	return page, nil
}

func (d *daemon) CountDecisions(_ context.Context, q wire.CountQuery) (wire.Counts, *wire.Error) {
	return wire.Counts{Total: 3, Tools: []wire.Count{{Name: q.Tool, Count: int64(q.Every)}}}, nil
}

func (d *daemon) Accepted(_ context.Context, q wire.EventQuery) (wire.Accepted, *wire.Error) {
	return wire.Accepted{Events: []wire.AcceptedEvent{{EventHead: wire.EventHead{EventID: "e1", SessionID: q.Session}, Seq: q.Before}}}, nil
}

func (d *daemon) Past(_ context.Context, q wire.EventQuery) (wire.Past, *wire.Error) {
	if q.Before == 1 {
		return wire.Past{Events: []wire.StoredEvent{}}, nil
	}
	return wire.Past{Events: []wire.StoredEvent{{EventID: "e1", Seq: 1, Envelope: wire.Envelope{SessionID: q.Session}}}, Next: 1}, nil
}

func (d *daemon) Sessions(_ context.Context, q wire.SessionQuery) (wire.Sessions, *wire.Error) {
	return wire.Sessions{Sessions: []wire.Session{{SessionID: "s1", AgentName: q.Agent, State: q.State}}}, nil
}

func (d *daemon) Begin(from server.Peer, env *events.Envelope) (wire.Answer, server.Rest, *wire.Error) {
	if env.Event == "test:hang" {
		return wire.Answer{}, func() (wire.Answer, *wire.Error) {
			<-d.hang
			return wire.Answer{}, &wire.Error{Code: wire.CodeInternal}
		}, nil
	}
	answer, bad := d.Emit(context.Background(), from, env)
	return answer, nil, bad
}

func (d *daemon) Last(_ context.Context, agent events.Dialect, except string) (wire.StoredEvent, *wire.Error) {
	if agent != "cline" || except != "probe" {
		return wire.StoredEvent{}, &wire.Error{Code: wire.CodeNotFound, Message: "no event", Hint: "hookd log runs"}
	}
	return wire.StoredEvent{EventID: "last"}, nil
}

func (d *daemon) Event(_ context.Context, id string) (wire.StoredEvent, *wire.Error) {
	if id == "none" {
		return wire.StoredEvent{}, &wire.Error{Code: wire.CodeNotFound, Message: "no event none", Hint: "hookd log runs"}
	}
	return wire.StoredEvent{EventID: id}, nil
}

func (d *daemon) Replay(_ context.Context, _ server.Peer, id string, r wire.Replay) (wire.Replayed, *wire.Error) {
	return wire.Replayed{ReplayOf: id, Matched: []string{r.Hook}}, nil
}

func (d *daemon) Stats(_ context.Context, q wire.StatsQuery) (wire.Stats, *wire.Error) {
	return wire.Stats{Hooks: []wire.HookStats{{Hook: q.Hook, RunStats: wire.RunStats{Runs: 1}}}}, nil
}

func (d *daemon) DeadLetters(_ context.Context, hook string, before int64, limit int) (wire.DeadLetters, *wire.Error) {
	return wire.DeadLetters{Dead: []wire.DeadLetter{{Hook: hook, ID: before, Attempts: limit}}}, nil
}

func (d *daemon) DeadLetter(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "shown"}, nil
}

func (d *daemon) RetryDead(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "retried"}, nil
}

func (d *daemon) DropDead(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "dropped"}, nil
}

func (d *daemon) Recover(context.Context, server.Peer) (wire.Recovered, *wire.Error) {
	return wire.Recovered{Losses: []wire.RecoveredLoss{}}, nil
}

func (d *daemon) Status(context.Context) wire.Status { return wire.Status{PID: os.Getpid()} }
func (d *daemon) Ready() string                      { return d.ready }
func (d *daemon) Reload(context.Context) (wire.Reload, *wire.Error) {
	return d.reload, nil
}

// start runs a server and returns a client for that server.
func start(t *testing.T) (*daemon, *Client) {
	t.Helper()
	d := &daemon{hub: stream.New(stream.Options{}), reload: wire.Reload{Problems: []wire.Problem{}}, hang: make(chan struct{})}
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	s, err := server.Listen(server.Options{Socket: socket, Emitter: d, Streamer: d, Hooks: d, Runs: d, History: d, State: d, Ping: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		close(d.hang)
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return d, New(Options{Socket: socket, Timeout: time.Minute})
}

func TestEmit(t *testing.T) {
	_, c := start(t)
	a, err := c.Emit(t.Context(), Event{Event: "agent:end", ID: "1", Data: json.RawMessage("{\n\"a\": 1\n}")})
	if err != nil || a.EventID != "id-1" || a.Seq != 1 || a.Verdict != nil {
		t.Errorf("got %+v, %v", a, err)
	}
	a, err = c.Emit(t.Context(), Event{Event: "agent:end", Wait: true, Data: json.RawMessage("{\n\"a\": 1\n}")})
	if err != nil || a.Verdict == nil || a.Verdict.Message != `{"a":1}` {
		t.Errorf("waited: %+v, %v", a, err)
	}
	_, err = c.Emit(t.Context(), Event{Event: "a b"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != CodeBadEventName || refused.Hint == "" {
		t.Errorf("refused: %v", err)
	}
	if _, err = c.Emit(t.Context(), Event{Event: "x", Data: json.RawMessage("{")}); err == nil || !strings.Contains(err.Error(), `encode event "x"`) {
		t.Errorf("broken data: %v", err)
	}
}

// The system says no more than "invalid argument" of a path that is too long.
func TestTooLongPath(t *testing.T) {
	path := "/" + strings.Repeat("x", 200)
	_, err := New(Options{Socket: path}).Status(t.Context())
	if err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "a path of 201 bytes is too long for a socket") {
		t.Errorf("got %v", err)
	}
}

func TestNotRunning(t *testing.T) {
	path := filepath.Join(hooktest.ShortDir(t), "s")
	want := fmt.Sprintf("hookd is not running (socket %s)", path)
	c := New(Options{Socket: path})
	_, emit := c.Emit(t.Context(), Event{Event: "agent:end"})
	_, status := c.Status(t.Context())
	tail := c.Tail(t.Context(), TailOptions{}, nil)
	for name, err := range map[string]error{"emit": emit, "status": status, "ready": c.Ready(t.Context()), "tail": tail} {
		if !errors.Is(err, ErrNotRunning) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	if err := c.Ready(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("stale socket: %v", err)
	}
}

func TestNoAnswerInTime(t *testing.T) {
	_, c := start(t)
	short := New(Options{Socket: c.Socket(), Timeout: 20 * time.Millisecond})
	if _, err := short.Emit(t.Context(), Event{Event: "test:hang"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("by option: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Emit(ctx, Event{Event: "test:hang"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("by context: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := c.Emit(ctx, Event{Event: "test:hang"}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) {
		t.Errorf("cancelled: %v", err)
	}
}

// A server that hangs up, or is none, gives an error that says so.
func TestStrangeServers(t *testing.T) {
	tests := []struct{ name, says, want string }{
		{"hangs_up", "", "closed the connection"},
		{"half", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", "closed the connection"},
		{"no_length", "HTTP/1.1 200 OK\r\n\r\n{}", "without a length"},
		{"no_http", "SSH-2.0\r\n", "not an HTTP answer"},
		{"no_json", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "read answer"},
		{"no_refusal", "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}", "status 500"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(hooktest.ShortDir(t), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				conn.Read(make([]byte, 4096))
				io.WriteString(conn, tt.says)
			}()
			_, err = New(Options{Socket: path, Timeout: time.Minute}).Status(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			l.Close()
			<-ended
		})
	}
}

func TestConnPipelines(t *testing.T) {
	_, c := start(t)
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const n = 2000
	sent := make(chan error, 1)
	go func() {
		for i := 0; i < n; i += 2 {
			if err := conn.Send(t.Context(), Event{Event: "agent:end", ID: fmt.Sprint(i)}, Event{Event: "agent:end", ID: fmt.Sprint(i + 1)}); err != nil {
				sent <- err
				return
			}
		}
		sent <- conn.Send(t.Context(), Event{Event: "a b"}, Event{Event: "agent:end", ID: "last"})
	}()
	for i := range n {
		a, err := conn.Receive(t.Context())
		if want := fmt.Sprint("id-", i); err != nil || a.EventID != want {
			t.Fatalf("got %+v, %v, want %s", a, err, want)
		}
	}
	var refused *Error
	if _, err := conn.Receive(t.Context()); !errors.As(err, &refused) {
		t.Errorf("refused: %v", err)
	}
	if a, err := conn.Receive(t.Context()); err != nil || a.EventID != "id-last" {
		t.Errorf("after a refusal: %+v, %v", a, err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func TestTail(t *testing.T) {
	d, c := start(t)
	emit := func(name string) {
		if _, err := c.Emit(t.Context(), Event{Event: name}); err != nil {
			t.Fatal(err)
		}
	}
	emit("agent:start")
	emit("agent:end")
	var got []string
	since := uint64(1)
	err := c.Tail(t.Context(), TailOptions{Since: &since, Epoch: d.hub.Epoch()}, func(record json.RawMessage) error {
		var r struct {
			Type, Event string
			Seq         uint64
		}
		if err := json.Unmarshal(record, &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(r.Type, r.Seq))
		switch len(got) {
		case 2:
			emit("agent:end")
		case 3:
			d.hub.Close()
		}
		return nil
	})
	if want := "[epoch2 event2 event3]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

func TestTailOnce(t *testing.T) {
	d, c := start(t)
	d.hub.Publish("a", func(_ uint64, dst []byte) []byte { return append(dst, `{"type":"event"}`...) })
	zero, n := uint64(0), 0
	count := func(json.RawMessage) error { n++; return nil }
	if err := c.Tail(t.Context(), TailOptions{Match: []string{"a"}, Since: &zero, Once: true}, count); err != nil || n != 2 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestTailEnds(t *testing.T) {
	_, c := start(t)
	none := func(json.RawMessage) error { return nil }
	stop := errors.New("enough")
	if err := c.Tail(t.Context(), TailOptions{}, func(json.RawMessage) error { return stop }); err != stop {
		t.Errorf("by the function: %v", err)
	}
	var refused *Error
	if err := c.Tail(t.Context(), TailOptions{Match: []string{"["}}, none); !errors.As(err, &refused) {
		t.Errorf("bad glob: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := c.Tail(ctx, TailOptions{}, func(json.RawMessage) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("by context: %v", err)
	}
}

func TestQuestions(t *testing.T) {
	d, c := start(t)
	ctx := t.Context()
	if got, err := c.Hooks(ctx); err != nil || got.Generation != 3 || len(got.Hooks) != 2 || len(got.Hooks[1].Name) != 400_000 {
		t.Errorf("hooks: %d %d, %v", got.Generation, len(got.Hooks), err)
	}
	for _, name := range []string{"a", "my hook/1", "ü?&#%", "a\r\nb"} {
		if got, err := c.Hook(ctx, name); err != nil || got.Name != name {
			t.Errorf("hook %q: %q, %v", name, got.Name, err)
		}
	}
	var refused *Error
	if e, err := c.Last(ctx, "cline", "probe"); err != nil || e.EventID != "last" {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := c.Last(ctx, "codex", "probe"); !errors.As(err, &refused) || refused.Code != CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
	if _, err := c.Hook(ctx, "none"); !errors.As(err, &refused) || refused.Code != CodeNotFound || refused.Hint != "hookd list" {
		t.Errorf("no hook: %v", err)
	}
	if got, err := c.Test(ctx, "a b", Event{Event: "agent:end", Data: json.RawMessage(`{"x":1}`)}); err != nil || got.Given != "a b agent:end" || got.Stdin != `{"x":1}` {
		t.Errorf("test: %+v, %v", got, err)
	}
	if got, err := c.Test(ctx, "a", Event{}); err != nil || got.Given != "a " {
		t.Errorf("test without an event: %+v, %v", got, err)
	}
	if got, err := c.Runs(ctx, RunQuery{Hook: "x&y"}); err != nil || len(got) != 1 || got[0].Hook != "x&y" {
		t.Errorf("runs: %+v, %v", got, err)
	}
	if _, err := c.Runs(ctx, RunQuery{Limit: -1}); !errors.As(err, &refused) {
		t.Errorf("bad limit: %v", err)
	}
	if got, err := c.Run(ctx, "r/9"); err != nil || got.ID != "r/9" {
		t.Errorf("run: %+v, %v", got, err)
	}
	if got, err := c.Status(ctx); err != nil || got.PID != os.Getpid() {
		t.Errorf("status: %+v, %v", got, err)
	}
	if err := c.Ready(ctx); err != nil {
		t.Errorf("ready: %v", err)
	}
	d.ready = "reading hooks"
	if err := c.Ready(ctx); err == nil || !strings.Contains(err.Error(), d.ready) {
		t.Errorf("not ready: %v", err)
	}
	d.reload.Hooks = 4
	if got, err := c.Reload(ctx); err != nil || got.Hooks != 4 {
		t.Errorf("reload: %+v, %v", got, err)
	}
	d.reload.Problems = []wire.Problem{{Message: "broken"}}
	if got, err := c.Reload(ctx); !errors.As(err, &refused) || refused.Code != CodeRejected || len(got.Problems) != 1 {
		t.Errorf("reload with a rejection: %+v, %v", got, err)
	}
}

func TestDefaultSocket(t *testing.T) {
	tests := []struct{ name, socket, home, want string }{
		{"socket", "/x/s", "/y", "/x/s"},
		{"home", "", "/y", "/y/hookd.sock"},
		{"user", "", "", "/u/.librefang/hookd.sock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HOME", "/u")
			t.Setenv("HOOKD_SOCKET", tt.socket)
			t.Setenv("LIBREFANG_HOME", tt.home)
			if got := New(Options{}).Socket(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func ExampleClient_Emit() {
	c := New(Options{Socket: "/nowhere/hookd.sock"})
	_, err := c.Emit(context.Background(), Event{Event: "agent:end", Data: json.RawMessage(`{"status":"ok"}`)})
	fmt.Println(err)
	// Output: hookd is not running (socket /nowhere/hookd.sock)
}
