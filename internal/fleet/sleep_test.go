package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
)

// memory is an outbox in memory.
type memory struct {
	fleet.Outbox
	mu   sync.Mutex
	list []store.Outgoing
	n    uint64
}

func (s *memory) PutOutgoing(_ context.Context, m store.Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	m.N = s.n
	s.list = append(s.list, m)
	return nil
}

func (s *memory) Outgoing(_ context.Context, subjects []string, others bool, limit int, _ int64) (list []store.Outgoing, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		if slices.Contains(subjects, m.Subject) != others && len(list) < limit {
			list = append(list, m)
		}
	}
	return list, nil
}

func (s *memory) SentOutgoing(_ context.Context, numbers []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(m store.Outgoing) bool { return slices.Contains(numbers, m.N) })
	return nil
}

func (s *memory) OutboxLoad(context.Context) (l store.OutboxLoad, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Messages = len(s.list); l.Messages > 0 {
		l.Oldest = s.list[0].At
	}
	return l, nil
}

// sleeper is a broker whose servers may be away.
type sleeper struct {
	engine.Broker
	changed chan struct{}
	enough  int
	has     chan struct{} // closed when the servers have so many messages

	mu     sync.Mutex
	away   bool
	calls  int                 // while they are away
	most   int                 // messages of one call
	stored map[string][]string // events by subject, in their order
}

func (s *sleeper) Announce(string) error { return nil }

func (s *sleeper) State() engine.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return engine.State{Connected: !s.away}
}

func (s *sleeper) Changed() <-chan struct{} { return s.changed }

func (s *sleeper) Prepare(context.Context, []engine.Stream) error { return nil }

func (s *sleeper) Publish(_ context.Context, list []engine.Message) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, len(list))
	s.most = max(s.most, len(list))
	if s.away {
		s.calls++
	}
	for i, m := range list {
		if errs[i] = engine.ErrAway; !s.away {
			errs[i] = nil
			for _, id := range eventID.FindAllSubmatch(m.Data, -1) {
				s.stored[m.Subject] = append(s.stored[m.Subject], string(id[1]))
				if s.enough--; s.enough == 0 {
					close(s.has)
				}
			}
		}
	}
	return errs
}

var eventID = regexp.MustCompile(`"event_id":"(\d+)"`)

// Servers are away for an hour, in which a machine has two events a second for the others.
// It says how far it is behind and does not try without servers. Then all events leave, those
// of a session in order, a batch at a time.
func TestAnHourWithoutServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 7200
		box := &memory{}
		broker := &sleeper{changed: make(chan struct{}, 1), enough: count, has: make(chan struct{}), away: true, stored: map[string][]string{}}
		f := fleet.New(fleet.Options{Broker: broker, Names: fleet.Names{Tenant: "t", Machine: "m"}, Outbox: box, Position: &positions{}})
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { f.Run(ctx); close(ended) }()
		want := map[string][]string{}
		tick := time.NewTicker(time.Second / 2)
		defer tick.Stop()
		for n := range count {
			scope, subject := hook.ScopeFleet, "hookd.t.m.work.h"
			if n%10 == 0 {
				scope, subject = hook.ScopeEvery, "hookd.t.m.every"
			}
			e := &events.Event{EventID: fmt.Sprintf("%06d", n), Time: time.Now(), Envelope: events.Envelope{
				Event: "agent:end", SessionID: "s", Data: json.RawMessage(`{}`),
			}}
			if err := f.Send(ctx, e, "h", scope); err != nil {
				t.Fatal(err)
			}
			want[subject] = append(want[subject], e.EventID)
			<-tick.C
		}
		if s, err := f.Status(ctx); err != nil || s.Outbox.Messages != count || time.Since(s.Oldest()) < time.Hour {
			t.Errorf("after an hour the status is %+v, %v", s, err)
		}
		broker.mu.Lock()
		broker.away = false
		broker.mu.Unlock()
		broker.changed <- struct{}{}
		<-broker.has
		synctest.Wait() // whatever comes twice has come
		end()
		<-ended
		if broker.calls > 0 || broker.most > 256 {
			t.Errorf("%d calls without servers, and %d messages in one call", broker.calls, broker.most)
		}
		if !maps.EqualFunc(broker.stored, want, slices.Equal[[]string]) {
			t.Errorf("the servers have %v, want %v", broker.stored, want)
		}
	})
}
