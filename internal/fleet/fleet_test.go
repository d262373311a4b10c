package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// machine is one machine with a store of its own, whose daemon is the test.
type machine struct {
	*fleet.Fleet
	positions positions
	broker    *jetstream.Broker
	names     fleet.Names

	mu     sync.Mutex
	took   []events.Envelope
	seen   map[string]bool
	refuse func(events.Envelope) *wire.Error // nil = it takes all
}

func join(t *testing.T, url, name string, hooks ...*hook.Hook) *machine {
	t.Helper()
	m := joinAs(t, engine.Options{Servers: []string{url}, Machine: name}, fleet.Options{}, hooks...)
	if slices.Contains(hooks, each) {
		m.hears(t)
	}
	return m
}

// joinAs is join with more options.
func joinAs(t *testing.T, j engine.Options, o fleet.Options, hooks ...*hook.Hook) *machine {
	t.Helper()
	m := &machine{names: fleet.Names{Tenant: "t", Machine: j.Machine}, seen: map[string]bool{}}
	s, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "hookd.db"), Durable: store.DurableOS})
	hooktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	m.broker, err = jetstream.Connect(j, o.Log)
	hooktest.Must(t, err)
	t.Cleanup(m.broker.Close)
	o.Broker, o.Names, o.Outbox, o.Position, o.Accept = m.broker, m.names, s, &m.positions, m.accept
	m.Fleet = fleet.New(o)
	m.Retain(hooks)
	hooktest.Run(t, func(ctx context.Context) error { m.Run(ctx); return nil })
	return m
}

// positions is a fleet.Position in memory.
type positions struct {
	mu    sync.Mutex
	at    map[string]uint64 // by stream and its begin
	known map[string]bool   // by stream
}

func (p *positions) ReadThrough(stream string, begun time.Time) (uint64, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at[stream+begun.String()], p.known[stream], nil
}

// hears waits until the machine is told all events for each machine that come from now on.
func (m *machine) hears(t *testing.T) *machine {
	t.Helper()
	hooktest.Until(t, m.names.Machine+" has a position", func() bool {
		_, known, _ := m.positions.ReadThrough("HOOKD_"+m.names.Tenant+"_EVERY", time.Time{})
		return known
	})
	return m
}

func (p *positions) SetReadThrough(stream string, begun time.Time, seq uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at, p.known = map[string]uint64{}, map[string]bool{}
	}
	p.at[stream+begun.String()], p.known[stream] = seq, true
	return nil
}

func (m *machine) accept(env events.Envelope) (bool, *wire.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		if bad := m.refuse(env); bad != nil {
			return false, bad
		}
	}
	if m.seen[env.ID] {
		return true, nil
	}
	m.seen[env.ID] = true
	m.took = append(m.took, env)
	return false, nil
}

// data returns the data of the accepted events, in order.
func (m *machine) data() (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, env := range m.took {
		list = append(list, string(env.Data))
	}
	return list
}

var once, each = &hook.Hook{Name: "once", Scope: hook.ScopeFleet}, &hook.Hook{Name: "each", Scope: hook.ScopeEvery}

// emit has n events of one session sent for a hook.
func (m *machine) emit(t *testing.T, h *hook.Hook, first, n int) (want []string) {
	t.Helper()
	for i := first; i < first+n; i++ {
		data := fmt.Sprintf(`{"n":%d}`, i)
		e := &events.Event{EventID: events.NewID(time.Now()), Time: time.Now(), Envelope: events.Envelope{
			Event: "agent:end", SessionID: "s", Data: json.RawMessage(data),
		}}
		hooktest.Must(t, m.Send(t.Context(), e, h.Name, h.Scope))
		want = append(want, data)
	}
	return want
}

func status(t *testing.T, m interface {
	Status(context.Context) (fleet.Status, error)
}) fleet.Status {
	t.Helper()
	s, err := m.Status(t.Context())
	hooktest.Must(t, err)
	return s
}

// An event for each machine comes to each other one, in order; an event for one machine
// comes to one.
func TestEventsReachOtherMachines(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	a, b, c := join(t, url, "a", once, each), join(t, url, "b", once, each), join(t, url, "c", each)
	want := a.emit(t, each, 0, 50)
	for _, m := range []*machine{b, c} {
		hooktest.Until(t, "all events have come", func() bool { return len(m.data()) >= len(want) })
		if got := m.data(); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", m.names.Machine, got, want)
		}
		if from := m.took[0].Brought; from == nil || from.Machine != "a" || from.Hook != "each" || m.took[0].Sender != "fleet:a" {
			t.Errorf("the first event is brought from %+v by %s", from, m.took[0].Sender)
		}
	}
	if n := len(a.data()); n > 0 {
		t.Errorf("the machine of the events has %d of them again", n)
	}
	c.emit(t, once, 100, 50)
	hooktest.Until(t, "all work is taken", func() bool { return len(a.data())+len(b.data()) >= 50+50 })
	all := slices.Concat(a.data(), b.data()[50:])
	slices.Sort(all)
	if len(slices.Compact(all)) != 50 || len(c.data()) != 50 {
		t.Errorf("a and b have %v, and c %d", all, len(c.data()))
	}
}

// A machine that is new gets the events for each machine from its first look on, and none of before.
func TestANewMachineBeginsWithWhatComes(t *testing.T) {
	server := fleettest.Start(t, nil)
	a := join(t, server.URL(), "a", each)
	a.emit(t, each, 0, 3)
	hooktest.Until(t, "the servers have the events", func() bool {
		n, _ := server.Stored("HOOKD_t_EVERY")
		return n > 0 && status(t, a).Outbox.Messages == 0
	})
	b := join(t, server.URL(), "b", each)
	want := a.emit(t, each, 3, 2)
	hooktest.Until(t, "the later ones have come", func() bool {
		got := b.data()
		return len(got) > 0 && got[len(got)-1] == want[len(want)-1]
	})
	if got := b.data(); !slices.Equal(got, want) {
		t.Errorf("the new machine has %v, want %v", got, want)
	}
}

// While no server answers everything waits on disk, and the status says so; then it leaves, in order.
func TestServersAreAway(t *testing.T) {
	s := fleettest.Start(t, nil)
	a, b := join(t, s.URL(), "a", each), join(t, s.URL(), "b", each)
	want := a.emit(t, each, 0, 10)
	hooktest.Until(t, "the first have come", func() bool { return len(b.data()) == 10 })
	s.Stop()
	hooktest.Until(t, "the status says that no server answers", func() bool { return !status(t, a).State.Connected })
	want = append(want, a.emit(t, each, 10, 300)...)
	if l := status(t, a).Outbox; l.Messages != 300 || l.Oldest.IsZero() {
		t.Errorf("the load is %+v", l)
	}
	s.Run()
	hooktest.Until(t, "all have come", func() bool { return len(b.data()) >= len(want) })
	if got := b.data(); !slices.Equal(got, want) {
		t.Errorf("b has %d events, or in another order, want %d", len(got), len(want))
	}
	hooktest.Until(t, "nothing waits", func() bool { return status(t, a).Outbox.Messages == 0 })
}

// A machine that cannot take an event now is offered it again, before the next.
func TestOrderIsKeptWhereEventsAreRefused(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	a, b := join(t, url, "a", each), join(t, url, "b", each)
	var tries int
	b.mu.Lock()
	b.refuse = func(env events.Envelope) *wire.Error {
		if string(env.Data) == `{"n":1}` {
			if tries++; tries < 3 {
				return &wire.Error{Code: wire.CodeStorage, Message: "the disk is full"}
			}
		}
		return nil
	}
	b.mu.Unlock()
	want := a.emit(t, each, 0, 4)
	hooktest.Until(t, "all have come", func() bool { return len(b.data()) == 4 })
	if got := b.data(); !slices.Equal(got, want) || tries != 3 {
		t.Errorf("b has %v after %d tries", got, tries)
	}
}

// A machine that has no such hook, or not for such events, lets another have the work.
func TestWorkGoesWhereItIsTaken(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	a, b := join(t, url, "a", once), join(t, url, "b")
	a.mu.Lock()
	a.refuse = func(events.Envelope) *wire.Error {
		return &wire.Error{Code: wire.CodeNotFound, Message: "no hook"}
	}
	a.mu.Unlock()
	a.emit(t, once, 0, 1)
	hooktest.Until(t, "a was offered it", func() bool { return status(t, a).Skipped > 0 })
	b.Retain([]*hook.Hook{once})
	hooktest.Until(t, "b has it", func() bool { return len(b.data()) == 1 })
}

// Hostile messages are refused and counted, and hold nothing up.
func TestHostileMessages(t *testing.T) {
	url := fleettest.Start(t, func(o *server.Options) { o.MaxPayload = 64 << 10 }).URL()
	evil, b := join(t, url, "evil", each), join(t, url, "b", each, once)
	hooktest.Until(t, "the streams are there", func() bool { return evil.broker.State().Limit > 0 })
	good := fmt.Sprintf(`{"machine":"evil","hook":"each","event_id":"%s","event":{"event":"agent:end","data":{}}}`,
		events.NewID(time.Now()))
	forged := []engine.Message{
		{Subject: "hookd.t.evil.every", Data: []byte(strings.Replace(good, `"evil"`, `"boss"`, 1))},
		{Subject: "hookd.t.evil.every", Data: []byte("no JSON")},
		{Subject: "hookd.t.evil.every", Data: []byte(strings.Replace(good, "agent:end", "agent end*", 1))},
		{Subject: "hookd.t.evil.every", Data: []byte(strings.Replace(good, `{}`, `[1]`, 1))},
		{Subject: "hookd.t.evil.every", Data: []byte(strings.Replace(good, `"event_id":"`, `"event_id":"../`, 1))},
		{Subject: "hookd.t.evil.work.once", Data: []byte(good)},
	}
	hooktest.Until(t, "they are stored", func() bool {
		for _, err := range evil.broker.Publish(t.Context(), forged) {
			if err != nil {
				return false
			}
		}
		return true
	})
	hooktest.Until(t, "they are refused", func() bool { return status(t, b).Refused >= uint64(len(forged)) })
	want := evil.emit(t, each, 0, 1)
	hooktest.Until(t, "what is right comes", func() bool { return len(b.data()) > 0 })
	if got := b.data(); !slices.Equal(got, want) {
		t.Errorf("b has taken %v", got)
	}
	big := &events.Event{EventID: events.NewID(time.Now()), Envelope: events.Envelope{
		Event: "agent:end", Data: json.RawMessage(`{"x":"` + strings.Repeat("x", 64<<10) + `"}`),
	}}
	if err := evil.Send(t.Context(), big, "each", hook.ScopeEvery); err == nil || !strings.Contains(err.Error(), "raise max_payload") {
		t.Errorf("an event that is too large: %v", err)
	}
}
