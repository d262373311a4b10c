package dispatch

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// A sender uses its envelope and buffer again as soon as Begin has returned.
func TestBeginKeepsNothingOfTheSendersBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{"a": {takes: time.Second}})
		var env events.Envelope
		var buf []byte
		for i, id := range []string{"", "", "one", "one", "two"} {
			buf = fmt.Appendf(buf[:0], `{"n":%d}`, []int{0, 1, 2, 2, 4}[i])
			env = events.Envelope{Event: "x", SessionID: "s", ID: id, Data: buf}
			if _, rest, err := b.Begin(Origin{}, &env); err != nil {
				t.Fatal(err)
			} else if rest != nil {
				go rest(&Receipt{})
			}
		}
		copy(buf, "overwritten")
		env = events.Envelope{Event: "other"}
		pass(10 * time.Second)
		synctest.Wait()
		b.fake.mu.Lock()
		defer b.fake.mu.Unlock()
		if len(b.fake.ran) != 4 {
			t.Fatalf("ran %q, want 4 runs", b.fake.ran)
		}
		for i, n := range []int{0, 1, 2, 4} {
			if want := fmt.Sprintf(`"n":%d`, n); !strings.Contains(b.fake.ran[i], want) {
				t.Errorf("run %d was given %s, want %s", i, b.fake.ran[i], want)
			}
		}
	})
}

// copies keeps the events that Accept is shown.
type copies struct {
	tape
	shown []events.Event
}

func (c *copies) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	own := *e
	own.Data = append([]byte(nil), e.Data...)
	c.shown = append(c.shown, own)
	return c.tape.Accept(e, p, hooks, stored)
}

// Events that have no hook follow each other in the same memory: nothing of
// one is seen in the next.
func TestEventsThatPassLeaveNothingBehind(t *testing.T) {
	c := &copies{}
	b := newBench(t, Options{Recorder: c}, nil, nil)
	full := events.Envelope{Event: "a", Data: []byte(`{"a":1}`), SessionID: "s", AgentID: "i", AgentName: "n", Cwd: "/", Sender: "m", Parent: "p", Warnings: []string{"w"}, AgentNamed: true}
	if r, err := b.Replay(Origin{Depth: 3}, events.Event{Envelope: full, EventID: "of"}, ""); err != nil || r.Seq != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	for range 10 {
		if r, err := b.Emit(Origin{}, events.Envelope{Event: "b", Data: []byte(`{}`)}); err != nil || len(r.Warnings) > 0 || r.EventID == "" {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if first := c.shown[0]; first.ReplayOf != "of" || first.Depth != 3 || first.SessionID != "s" || string(first.Data) != `{"a":1}` {
		t.Errorf("the first was shown as %+v", first)
	}
	for i, e := range c.shown[1:] {
		want := events.Event{Envelope: events.Envelope{Event: "b", Data: []byte(`{}`)}, EventID: e.EventID, Time: e.Time, Contract: e.Contract, Unread: true}
		want.Dialect = e.Contract.Dialect
		if got := fmt.Sprintf("%+v", e); got != fmt.Sprintf("%+v", want) || e.Contract.Name != "b" {
			t.Errorf("event %d was shown as %s", i+1, got)
		}
	}
}

// slowRecorder takes its time to prepare large events.
type slowRecorder struct {
	tape
	large, ready chan struct{}
}

func (r *slowRecorder) Prepare(e *events.Event, _ bool) Prepared {
	if len(e.Data) > 1<<20 {
		r.large <- struct{}{}
		<-r.ready
	}
	return nil
}

// Slow work on one large event delays no other. It may be that a hook runs for it,
// decides about it, or does neither.
func TestALargeEventDelaysNoOther(t *testing.T) {
	hooks := []*hook.Hook{matchtest.Hook("note", "agent:step"), matchtest.Hook("guard", "pre_tool_use")}
	large := []byte(`{"text":"` + strings.Repeat("x", 2<<20) + `"}`)
	for _, env := range []events.Envelope{
		{Event: "agent:step", Data: large}, {Event: "agent:end", Data: large}, {Event: "pre_tool_use", Wait: true, Data: large},
	} {
		r := &slowRecorder{large: make(chan struct{}), ready: make(chan struct{})}
		b := newBench(t, Options{Recorder: r}, hooks, nil)
		var sending sync.WaitGroup
		sending.Go(func() {
			if _, err := b.Emit(Origin{}, env); err != nil {
				t.Error(err)
			}
		})
		<-r.large
		for _, small := range []events.Envelope{
			{Event: "pre_tool_use", Wait: true, Data: []byte(`{}`)}, {Event: "agent:step", Data: []byte(`{}`)}, {Event: "agent:end", Data: []byte(`{}`)},
		} {
			if _, err := b.Emit(Origin{}, small); err != nil {
				t.Error(err)
			}
		}
		close(r.ready)
		sending.Wait()
	}
}
