package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/base/hooktest"
	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("SERVER_TEST_ROLE"); role != "" {
		os.Exit(playRole(role))
	}
	goleak.VerifyTestMain(m)
}

// daemon stands behind the server. Events whose name begins with "test:" make
// it do the things that a test wants.
type daemon struct {
	hub      *stream.Hub
	release  chan struct{} // ends the wait of test:wait
	over     chan struct{} // the test has ended
	waiting  atomic.Int32  // events that wait now
	accepted atomic.Int32
	peer     atomic.Pointer[Peer]
	problems []wire.Problem
	unready  string
	query    atomic.Pointer[wire.RunQuery]
	tested   atomic.Pointer[wire.Test]
	passed   atomic.Pointer[wire.FleetAnswer]
	linked   atomic.Int64 // process that FleetLink takes
	heard    chan string  // by FleetLink
}

func newDaemon() *daemon {
	return &daemon{
		hub: stream.New(stream.Options{}), release: make(chan struct{}), over: make(chan struct{}), heard: make(chan string, 1),
	}
}

// emit is all that is not a wait.
func (d *daemon) emit(from Peer, env *events.Envelope) (wire.Answer, *wire.Error) {
	d.peer.Store(&from)
	switch env.Event {
	case "test:panic":
		panic("emit \x1b[31m panics")
	case "test:full":
		return wire.Answer{}, &wire.Error{Code: wire.CodeQueueFull, Message: "the queue is full", RetryAfter: 3}
	case "test:draining":
		return wire.Answer{}, &wire.Error{Code: wire.CodeDraining, Message: "draining"}
	case "test:warn":
		return wire.Answer{EventID: "w", Warnings: []string{"field <x> is odd"}}, nil
	}
	e := &events.Event{Envelope: *env, EventID: "id-" + env.ID, Time: time.Now()}
	answer := wire.Answer{EventID: e.EventID, Seq: d.hub.Publish(env.Event, stream.EventRecord(e)), Matched: []string{"guard \"1\""}}
	d.accepted.Add(1)
	if env.Wait {
		answer.Verdict = &verdict.Verdict{Allowed: true, Continue: true}
		answer.Runs = []wire.RunResult{{RunID: "r", Hook: "guard", Result: wire.ResultOK}}
	}
	return answer, nil
}

// Begin leaves test:disk to its Rest, which waits as for a slow disk, and of test:wait the wait for runs.
func (d *daemon) Begin(from Peer, env *events.Envelope) (wire.Answer, Rest, *wire.Error) {
	switch {
	case env.Event == "test:panic-late":
		return wire.Answer{}, func() (wire.Answer, *wire.Error) { panic("rest") }, nil
	case env.Event == "test:disk":
		own := *env
		return wire.Answer{}, func() (wire.Answer, *wire.Error) {
			<-d.release
			return d.emit(from, &own)
		}, nil
	}
	answer, bad := d.emit(from, env)
	if env.Event != "test:wait" || !env.Wait {
		return answer, nil, bad
	}
	d.waiting.Add(1)
	return wire.Answer{}, func() (wire.Answer, *wire.Error) {
		defer d.waiting.Add(-1)
		select {
		case <-d.release:
		case <-d.over:
		}
		return answer, bad
	}, nil
}

func (d *daemon) Subscribe(q wire.Subscribe) (Subscription, *wire.Error) {
	for _, g := range q.Globs {
		if g == "panic" {
			panic("subscribe")
		}
		if strings.Contains(g, "[") {
			return nil, &wire.Error{Code: wire.CodeBadRequest, Message: "bad glob"}
		}
	}
	match := func(name string) bool {
		return len(q.Globs) == 0 || slices.ContainsFunc(q.Globs, func(g string) bool {
			prefix, wild := strings.CutSuffix(g, "*")
			return g == name || wild && strings.HasPrefix(name, prefix)
		})
	}
	return d.hub.Subscribe(match, stream.From{Since: q.Since, Epoch: q.Epoch, Once: q.Follow != nil && !*q.Follow}), nil
}

func (d *daemon) Hooks(context.Context) wire.Hooks { return wire.Hooks{Generation: 7} }

func (d *daemon) Hook(_ context.Context, name string) (wire.Hook, *wire.Error) {
	if name != "my hook/1" {
		return wire.Hook{}, &wire.Error{Code: wire.CodeNotFound, Message: "no hook " + name, Hint: "hookd list"}
	}
	return wire.Hook{Name: name}, nil
}

func (d *daemon) RunTests(_ context.Context, _ Peer, name string) (wire.Tests, *wire.Error) {
	return wire.Tests{Hook: name, Tests: []wire.TestedAs{}}, nil
}

func (d *daemon) Test(_ context.Context, _ Peer, name string, test wire.Test) (wire.Tested, *wire.Error) {
	d.tested.Store(&test)
	return wire.Tested{Given: strings.TrimRight(name+" "+test.Event+" "+test.Tool, " ")}, nil
}

func (d *daemon) Runs(_ context.Context, q wire.RunQuery) (wire.Runs, *wire.Error) {
	d.query.Store(&q)
	return wire.Runs{Runs: []wire.Run{{ID: "r1"}}}, nil
}

func (d *daemon) Run(_ context.Context, id string) (wire.Run, *wire.Error) {
	return wire.Run{ID: id}, nil
}

func (d *daemon) Running(context.Context) wire.Running {
	return wire.Running{Runs: []wire.UnderWay{{RunID: "r2"}}}
}

func (d *daemon) Kill(_ context.Context, id string) (wire.UnderWay, *wire.Error) {
	if id == "none" {
		return wire.UnderWay{}, &wire.Error{Code: wire.CodeNotFound, Message: "no run none", Hint: "hookd log running"}
	}
	return wire.UnderWay{RunID: id}, nil
}

func (d *daemon) Decisions(_ context.Context, q wire.DecisionQuery) (wire.Decisions, *wire.Error) {
	return wire.Decisions{Decisions: []wire.Decision{{EventID: "e1", Decision: wire.Outcome(q.Decision), Tool: q.Tool, Seq: q.Before}}}, nil
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
	return wire.Sessions{Sessions: []wire.Session{{SessionID: "s1", State: q.State}}}, nil
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

func (d *daemon) Replay(_ context.Context, _ Peer, id string, r wire.Replay) (wire.Replayed, *wire.Error) {
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

func (d *daemon) Recover(context.Context, Peer) (wire.Recovered, *wire.Error) {
	return wire.Recovered{Losses: []wire.RecoveredLoss{}}, nil
}

func (d *daemon) Status(context.Context) wire.Status { return wire.Status{Version: "test"} }
func (d *daemon) Ready() string                      { return d.unready }
func (d *daemon) Reload(context.Context) (wire.Reload, *wire.Error) {
	return wire.Reload{Problems: d.problems}, nil
}

// fixture is a server that runs, with its surroundings.
type fixture struct {
	*daemon
	t      testing.TB
	server *Server
	socket string
	logs   *observer.ObservedLogs
	ended  chan error
}

func options(d *daemon, socket string) Options {
	return Options{Socket: socket, Emitter: d, Streamer: d, Hooks: d, Runs: d, History: d, Asks: d, State: d, Fleet: d, Undo: d}
}

func start(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	f := &fixture{daemon: newDaemon(), t: t, socket: filepath.Join(hooktest.ShortDir(t), "s"), logs: logs, ended: make(chan error, 1)}
	opt := options(f.daemon, f.socket)
	opt.Log = zap.New(core)
	if change != nil {
		change(&opt)
	}
	var err error
	if f.server, err = Listen(opt); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { f.ended <- f.server.Serve(ctx) }()
	t.Cleanup(func() {
		f.hub.Close()
		cancel()
		close(f.over)
		if err := <-f.ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return f
}

// line is a connection of the line door.
type line struct {
	*net.UnixConn
	in *bufio.Reader
	t  testing.TB
}

func (f *fixture) dial() *line {
	f.t.Helper()
	conn, err := net.Dial("unix", f.socket)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &line{conn.(*net.UnixConn), bufio.NewReader(conn), f.t}
}

func (l *line) send(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
}

// read returns the next line, or the error that ends the connection.
func (l *line) read() string {
	l.t.Helper()
	text, err := l.in.ReadString('\n')
	if err != nil {
		return text + err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}

func (l *line) ask(text string) string {
	l.t.Helper()
	l.send(text + "\n")
	return l.read()
}

// reply has the members of any answer that tests look at.
type reply struct {
	OK      *bool
	EventID string `json:"event_id"`
	Seq     uint64
	Matched []string
	Verdict *verdict.Verdict
	Error   *wire.Error
	Type    string
	From    *uint64
	Epoch   string
	Event   string
}

func parseReply(t testing.TB, text string) (r reply) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("answer %q: %v", text, err)
	}
	return r
}

// code sums an answer up: "ok", "ok waited" or the code of its error.
func code(t testing.TB, text string) string {
	t.Helper()
	switch r := parseReply(t, text); {
	case r.Error != nil && (r.OK == nil || *r.OK):
		return "an error without ok false"
	case r.Error != nil:
		return string(r.Error.Code)
	case r.OK == nil || !*r.OK:
		return "an answer without ok true"
	case r.Verdict != nil:
		return "ok waited"
	}
	return "ok"
}

// web is a client of the HTTP door.
func (f *fixture) web() *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", f.socket)
	}}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// do sends one request and returns the response, with its whole body.
func (f *fixture) do(method, target, body string, header ...string) (*http.Response, string) {
	f.t.Helper()
	req, err := http.NewRequest(method, "http://hookd"+target, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := f.web().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(text)
}

func (f *fixture) shutdown(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f.server.Shutdown(ctx)
}

func TestShutdownAnswersWhatWasSent(t *testing.T) {
	f := start(t, nil)
	idle, waiting := f.dial(), f.dial()
	if got := code(t, idle.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Fatalf("got %s", got)
	}
	waiting.send(`{"event":"test:wait","wait":true,"id":"1"}` + "\n" + `{"event":"agent:end","id":"2"}` + "\n")
	posted := make(chan string, 1)
	go func() {
		_, body := f.do("POST", "/v1/events?wait=1", `{"event":"test:wait"}`)
		posted <- body
	}()
	hooktest.Until(t, "two events wait", func() bool { return f.waiting.Load() == 2 })

	down := make(chan error, 1)
	go func() { down <- f.shutdown(time.Minute) }()
	if got := idle.read(); got != "EOF" {
		t.Errorf("idle connection read %q, want the end", got)
	}
	idle.Close()
	hooktest.Until(t, "socket removed", func() bool { _, err := os.Stat(f.socket); return errors.Is(err, os.ErrNotExist) })
	select {
	case err := <-down:
		t.Fatalf("shut down with events waiting: %v", err)
	default:
	}
	close(f.release)
	if got := code(t, waiting.read()); got != "ok waited" {
		t.Errorf("waiting event: %s", got)
	}
	if got := code(t, waiting.read()); got != "ok" {
		t.Errorf("event sent behind it: %s", got)
	}
	if got := waiting.read(); got != "EOF" {
		t.Errorf("then %q, want the end", got)
	}
	waiting.Close()
	if body := <-posted; parseReply(t, body).Verdict == nil {
		t.Errorf("posted event: %s", body)
	}
	if err := <-down; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if _, err := Listen(options(f.daemon, f.socket)); err != nil {
		t.Errorf("listen again: %v", err)
	}
}

func TestShutdownCutsOffWhoDoesNotEnd(t *testing.T) {
	f := start(t, nil)
	waiting := f.dial()
	waiting.send(`{"event":"test:wait","wait":true}` + "\n")
	hooktest.Until(t, "the event waits", func() bool { return f.waiting.Load() == 1 })
	if err := f.shutdown(50 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestShutdownEndsStreamsAndSilentClients(t *testing.T) {
	f := start(t, nil)
	silent, stopped, reading := f.dial(), f.dial(), f.dial()
	reading.send(`{"subscribe":["*"]}` + "\n")
	reading.read()
	stopped.send(`{"subscribe":["*"]}` + "\n")
	body := strings.NewReader("{\"event\":\"agent:end\"}\n")
	hold, feed := io.Pipe()
	defer feed.Close()
	posted := make(chan string, 1)
	go func() {
		req, _ := http.NewRequest("POST", "http://hookd/v1/events", io.MultiReader(body, hold))
		req.Header.Set("Content-Type", wire.NDJSON)
		resp, err := f.web().Do(req)
		if err != nil {
			posted <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		posted <- string(text)
	}()
	hooktest.Until(t, "a post and two subscribers", func() bool { return f.accepted.Load() == 1 && f.hub.Stats().Subscribers == 2 })
	for range 1000 { // more than the socket of the stopped one takes
		f.hub.Publish("agent:end", func(_ uint64, dst []byte) []byte {
			return append(append(append(dst, `{"pad":"`...), bytes.Repeat([]byte("x"), 2000)...), `"}`...)
		})
	}
	go io.Copy(io.Discard, reading)
	if err := f.shutdown(time.Minute); err != nil {
		t.Fatalf("shutdown: %v", err)
	}
	if got := silent.read(); got != "EOF" {
		t.Errorf("silent client read %q", got)
	}
	if got := <-posted; !strings.HasPrefix(got, `{"ok":true`) {
		t.Errorf("ndjson post: %s", got)
	}
	if n := f.hub.Stats().Subscribers; n != 0 {
		t.Errorf("%d subscribers left", n)
	}
}

func TestShutdownBeforeServe(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	s, err := Listen(options(newDaemon(), socket))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := s.Serve(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serve after shutdown: %v", err)
	}
	if again, err := Listen(options(newDaemon(), socket)); err != nil {
		t.Errorf("listen again: %v", err)
	} else {
		again.Shutdown(t.Context())
	}
}

func TestPanicEndsOnlyItsConnection(t *testing.T) {
	var panicAtAccept atomic.Bool
	f := start(t, func(o *Options) {
		o.Origin = func(Peer) any {
			if panicAtAccept.Load() {
				panic("origin")
			}
			return nil
		}
	})
	other, bad := f.dial(), f.dial()
	other.ask(`{"event":"agent:end"}`)
	if got := code(t, bad.ask(`{"event":"test:panic"}`)); got != "internal" {
		t.Errorf("line answered %s", got)
	}
	if got := bad.read(); got != "EOF" {
		t.Errorf("then %q, want the end", got)
	}
	resp, body := f.do("POST", "/v1/events", `{"event":"test:panic"}`)
	if resp.StatusCode != 500 || parseReply(t, body).Error.Code != wire.CodeInternal {
		t.Errorf("http answered %d %s", resp.StatusCode, body)
	}
	subscriber := f.dial()
	subscriber.ask(`{"event":"agent:end"}`)
	panicAtAccept.Store(true)
	if got := f.dial().read(); got != "EOF" {
		t.Errorf("panic at accept: %q", got)
	}
	panicAtAccept.Store(false)
	if got := code(t, subscriber.ask(`{"subscribe":["panic"]}`)); got != "internal" {
		t.Errorf("subscription answered %s", got)
	}
	if got := code(t, other.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("other connection: %s", got)
	}
	entries := f.logs.FilterMessage("request panicked").All()
	if len(entries) != 4 || entries[0].Level != zapcore.ErrorLevel || !strings.Contains(fmt.Sprint(entries[0].ContextMap()["stack"]), "Begin") {
		t.Errorf("logged %v", entries)
	}
}

func TestPeerAndOrigin(t *testing.T) {
	var asked atomic.Int32
	f := start(t, func(o *Options) {
		o.Origin = func(p Peer) any { asked.Add(1); return fmt.Sprint("pid ", p.PID) }
	})
	conn := f.dial()
	conn.ask(`{"event":"agent:end"}`)
	conn.ask(`{"event":"agent:end"}`)
	want := Peer{Owner: true, UID: os.Getuid(), PID: os.Getpid(), Sender: fmt.Sprint("uid:", os.Getuid()), Origin: fmt.Sprint("pid ", os.Getpid())}
	seen := func() Peer {
		got := *f.peer.Load()
		if ended, known := got.Handle.Ended(); ended && known {
			t.Error("this process is said to have ended")
		}
		got.Handle = want.Handle
		return got
	}
	if got := seen(); got != want {
		t.Errorf("line door: peer %+v, want %+v", got, want)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("origin asked %d times for one connection", n)
	}
	f.peer.Store(nil)
	f.do("POST", "/v1/events", `{"event":"agent:end"}`)
	if got := seen(); got != want {
		t.Errorf("http door: peer %+v, want %+v", got, want)
	}
}

// Nothing waits for an answer here.

var noAsk = &wire.Error{Code: wire.CodeNotFound, Message: "there is no such question"}

func (d *daemon) Asks(context.Context) wire.Asks     { return wire.Asks{} }
func (d *daemon) Grants(context.Context) wire.Grants { return wire.Grants{} }

func (d *daemon) Ask(context.Context, string) (wire.Ask, *wire.Error) { return wire.Ask{}, noAsk }

func (d *daemon) FollowAsks(wire.FollowAsks) Subscription {
	s, _ := d.Subscribe(wire.Subscribe{})
	return s
}

func (d *daemon) AnswerAsk(context.Context, Peer, string, wire.Reply) (wire.Replied, *wire.Error) {
	return wire.Replied{}, noAsk
}

func (d *daemon) Undoable(context.Context, wire.UndoQuery) (wire.UndoList, *wire.Error) {
	return wire.UndoList{Calls: []wire.UndoCall{{ID: "c1"}}}, nil
}

func (d *daemon) Purge(context.Context, string) (wire.UndoPurged, *wire.Error) {
	return wire.UndoPurged{Calls: 1}, nil
}

func (d *daemon) AddDump(context.Context, Peer, string, wire.DumpRequest) (wire.Dump, *wire.Error) {
	return wire.Dump{Name: "dump"}, nil
}

func (d *daemon) TakeBack(_ context.Context, _ Peer, r wire.UndoRequest) (wire.UndoAnswer, *wire.Error) {
	return wire.UndoAnswer{Word: wire.UndoAll, Preview: r.Preview}, nil
}

func (d *daemon) Permit(context.Context, Peer, string, wire.Permit) (wire.Grants, *wire.Error) {
	return wire.Grants{}, noAsk
}

func (d *daemon) RevokeGrant(context.Context, Peer, string) (wire.Grant, *wire.Error) {
	return wire.Grant{}, noAsk
}
