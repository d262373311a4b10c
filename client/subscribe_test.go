package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
)

// serve runs a server with d's stream on socket until stop.
func serve(t *testing.T, d *daemon, socket string) (stop func()) {
	t.Helper()
	s, err := server.Listen(server.Options{Socket: socket, Emitter: d, Streamer: d, Hooks: d, Runs: d, State: d, Ping: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return hooktest.Run(t, s.Serve)
}

func publish(h *stream.Hub, name string) {
	h.Publish(name, stream.EventRecord(&events.Event{Envelope: events.Envelope{Event: name, Data: json.RawMessage(`{"a":1}`), SessionID: "s"}, EventID: "e", Time: time.Unix(0, 0)}))
}

// A subscriber that loses the daemon misses nothing that the daemon still has, sees
// nothing twice, and is told which records are gone.
func TestSubscribeComesBack(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	d := &daemon{hub: stream.New(stream.Options{Size: 4})}
	stop := serve(t, d, socket)
	c := New(Options{Socket: socket})
	publish(d.hub, "x") // before: not asked for

	ready := make(chan struct{})
	type got struct {
		text string
		err  error
	}
	records := make(chan got, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lost := make(chan error, 100)
	go func() {
		defer close(records)
		opt := SubscribeOptions{Match: []string{"x"}, Lost: func(err error) error { lost <- err; return nil }}
		close(ready)
		for r, err := range c.Subscribe(ctx, opt) {
			text := fmt.Sprint(r.Type, " ", r.Seq)
			if r.Type == RecordGap {
				text = fmt.Sprint("gap ", r.From, "-", r.Seq)
			}
			if r.Event != nil && (r.Event.Event != "x" || r.Event.SessionID != "s" || string(r.Event.Data) != `{"a":1}` || r.Epoch != d.hub.Epoch()) {
				err = fmt.Errorf("record %+v of %s", r.Event, r.Epoch)
			}
			records <- got{text, err}
		}
	}()
	<-ready
	want := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if g := <-records; g.text != text || g.err != nil {
				t.Fatalf("got %q, %v, want %q", g.text, g.err, text)
			}
		}
	}
	for tick := time.NewTicker(time.Millisecond); d.hub.Stats().Subscribers == 0; { // until it follows
		<-tick.C
	}
	publish(d.hub, "x")
	want("event 2")

	stop() // gone, and back with the same stream
	if err := <-lost; err == nil {
		t.Error("lost without a reason")
	}
	publish(d.hub, "x")
	stop = serve(t, d, socket)
	publish(d.hub, "x")
	want("event 3", "event 4")

	stop() // too many while it was away
	for range 6 {
		publish(d.hub, "x")
	}
	stop = serve(t, d, socket)
	want("gap 5-6", "event 7", "event 8", "event 9", "event 10")

	stop() // another daemon, whose numbers begin again
	d.hub = stream.New(stream.Options{Size: 4})
	publish(d.hub, "x")
	stop = serve(t, d, socket)
	defer func() { stop() }()
	want("gap 0-0", "event 1")
	publish(d.hub, "y")
	publish(d.hub, "x")
	want("event 3")

	cancel()
	if g := <-records; !errors.Is(g.err, context.Canceled) {
		t.Errorf("at the end %v", g.err)
	}
	if _, more := <-records; more {
		t.Error("something came after the end")
	}
}

func TestSubscribeEnds(t *testing.T) {
	d, c := start(t)
	zero := uint64(0)
	publish(d.hub, "x")
	for r, err := range c.Subscribe(t.Context(), SubscribeOptions{Since: &zero}) {
		if err != nil || r.Seq != 1 || !strings.HasPrefix(string(r.Raw), `{"type":"event"`) {
			t.Errorf("%+v, %v", r, err)
		}
		break
	}
	var refused *Error
	n := 0
	for _, err := range c.Subscribe(t.Context(), SubscribeOptions{Match: []string{"["}}) {
		if n++; !errors.As(err, &refused) || refused.Code != CodeBadRequest {
			t.Errorf("bad glob: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
	enough := errors.New("enough")
	tries := 0
	gone := New(Options{Socket: filepath.Join(hooktest.ShortDir(t), "s")})
	for _, err := range gone.Subscribe(t.Context(), SubscribeOptions{Lost: func(err error) error {
		if !errors.Is(err, ErrNotRunning) {
			t.Errorf("lost: %v", err)
		}
		if tries++; tries == 3 {
			return enough
		}
		return nil
	}}) {
		if err != enough || tries != 3 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, err := range gone.Subscribe(ctx, SubscribeOptions{}) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("by its deadline: %v", err)
		}
	}
}

func TestEmitAll(t *testing.T) {
	_, c := start(t)
	list := make([]Event, 5000)
	for i := range list {
		list[i] = Event{Event: "agent:end", ID: fmt.Sprint(i)}
	}
	list[7].Event = "a b"
	replies, err := c.EmitAll(t.Context(), list)
	if err != nil || len(replies) != len(list) {
		t.Fatalf("%d replies, %v", len(replies), err)
	}
	for i, r := range replies {
		var refused *Error
		if i == 7 && (!errors.As(r.Err, &refused) || refused.Code != CodeBadEventName) {
			t.Errorf("reply 7: %+v", r)
		}
		if want := fmt.Sprint("id-", i); i != 7 && (r.Err != nil || r.Answer.EventID != want) {
			t.Fatalf("reply %d: %+v", i, r)
		}
	}
	if replies, err := c.EmitAll(t.Context(), nil); err != nil || len(replies) != 0 {
		t.Errorf("of none: %v, %v", replies, err)
	}
	if replies, err := c.EmitAll(t.Context(), []Event{{Event: "x"}, {Event: "x", Data: json.RawMessage("{")}}); err == nil || replies[0].Err != err {
		t.Errorf("broken data: %+v, %v", replies, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	replies, err = c.EmitAll(ctx, []Event{{Event: "x", ID: "1"}, {Event: "test:hang"}, {Event: "x"}})
	if !errors.Is(err, ErrTimeout) || replies[1].Err != err || replies[2].Err != err {
		t.Errorf("one that hangs: %+v, %v", replies, err)
	}
	gone := New(Options{Socket: filepath.Join(hooktest.ShortDir(t), "s")})
	if replies, err := gone.EmitAll(t.Context(), list[:1]); !errors.Is(err, ErrNotRunning) || replies[0].Err != err {
		t.Errorf("no daemon: %+v, %v", replies, err)
	}
}

func TestDecideHasABudget(t *testing.T) {
	d, c := budgets(t)
	tests := []struct {
		name       string
		give       int64
		timeout    time.Duration
		least, max int64
	}{
		{"none", 0, 0, 0, 0},
		{"by_context", 0, time.Hour, 600_000, 600_000},
		{"nine_tenths", 0, 100 * time.Second, 1, 90_000},
		{"own", 77, time.Hour, 77, 77},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, plain := t.Context(), New(Options{Socket: c.Socket()})
			if tt.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.timeout)
				defer cancel()
			}
			v, err := plain.Decide(ctx, Event{Event: "x", TimeoutMS: tt.give, Data: json.RawMessage(`{"q":1}`)})
			if got := <-d; err != nil || v.Message != `{"q":1}` || got < tt.least || got > tt.max {
				t.Errorf("%+v, %v, budget %d, want %d to %d", v, err, got, tt.least, tt.max)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Decide(ctx, Event{Event: "test:hang"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("without an answer: %v", err)
	}
}

// budgets is a daemon line door that tells the timeout_ms of each event, and
// answers with its data as the message.
func budgets(t *testing.T) (<-chan int64, *Client) {
	t.Helper()
	path := filepath.Join(hooktest.ShortDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan int64, 10)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer nc.Close()
				var ev Event
				if json.NewDecoder(nc).Decode(&ev) != nil {
					return
				}
				if ev.Event == "test:hang" {
					io.Copy(io.Discard, nc)
					return
				}
				told <- ev.TimeoutMS
				fmt.Fprintf(nc, "{\"ok\":true,\"verdict\":{\"allowed\":%t,\"message\":%q}}\n", ev.Wait, ev.Data)
			})
		}
	})
	t.Cleanup(func() { l.Close(); served.Wait() })
	return told, New(Options{Socket: path})
}

func TestRetryable(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{fmt.Errorf("x: %w", ErrNotRunning), true},
		{ErrTimeout, false}, // it may have been accepted
		{fmt.Errorf("x: %w", &Error{Code: CodeQueueFull}), true},
		{&Error{Code: CodeDraining}, true},
		{&Error{Code: CodeBadData}, false},
	} {
		if got := Retryable(tt.err); got != tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}
