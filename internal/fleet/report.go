package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// Machine returns the state of this machine. Its methods wait for nothing but the store.
type Machine interface {
	Facts() wire.FleetMachine
	Sessions(ctx context.Context, since time.Time) ([]wire.Session, error)
	// FollowAsks gives each ask that is held and each end of an ask, from now on and first
	// the asks that are held, as lines of JSON.
	FollowAsks() AskStream
}

// AskStream is the stream that FollowAsks returns. Next waits while there is nothing.
type AskStream interface {
	Next(ctx context.Context, dst []byte) ([]byte, error)
	Close()
}

// A machine publishes its facts when they change, and each factsEvery. When none have come for
// awayAfter, it counts as away. It looks for sessions with new events each sessionsEvery.
const (
	factsEvery    = time.Minute
	awayAfter     = 3*factsEvery + 10*time.Second
	sessionsEvery = 5 * time.Second
)

// MostSessions is how many sessions are published at once.
const MostSessions = 500

// The parts of areaNow. Each is one message: a machine that says more pushes out nothing of
// another.
const (
	nowMachine  = "machine"
	nowSessions = "sessions"
	nowAsks     = "asks"
)

// said is a machine's word on its sessions or asks.
type said struct {
	Machine  string         `json:"machine"`
	Sent     time.Time      `json:"sent"` // by the clock of the machine
	Sessions []wire.Session `json:"sessions,omitempty"`
	Asks     []wire.Ask     `json:"asks,omitempty"`
}

// publishState publishes the facts and sessions of this machine, until ctx ends.
func (f *Fleet) publishState(ctx context.Context) {
	if f.opts.Machine == nil {
		return
	}
	var last []byte
	var published time.Time
	sessions := time.Time{}
	tick := time.NewTicker(f.opts.look)
	defer tick.Stop()
	for {
		if f.online() {
			if !published.IsZero() {
				f.twin.look(ctx, f.opts.Machine.Facts().Started)
			}
			facts := f.facts(ctx)
			if text := encode(facts); !bytes.Equal(text, last) || time.Since(published) >= factsEvery {
				facts.Time = time.Now().UTC()
				if f.publish(ctx, encode(facts), nowMachine) == nil {
					last, published = text, time.Now()
				}
			}
			sessions = f.publishSessions(ctx, sessions)
		}
		select {
		case <-tick.C:
		case <-f.news:
		case <-ctx.Done():
			return
		}
	}
}

// facts is the state of this machine for others, without the time.
func (f *Fleet) facts(ctx context.Context) wire.FleetMachine {
	facts := f.opts.Machine.Facts()
	facts.Machine, facts.Trouble = f.names.Machine, f.twin.why()
	s, err := f.Status(ctx)
	if err != nil {
		return facts
	}
	facts.Waiting = s.Outbox.Messages + s.Decisions
	if oldest := s.Oldest(); !oldest.IsZero() {
		facts.Oldest = &oldest
	}
	return facts
}

func (f *Fleet) online() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready && f.opts.Broker.State().Connected
}

// publish replaces this machine's word on a part of areaNow.
func (f *Fleet) publish(ctx context.Context, text []byte, what string) error {
	return f.opts.Broker.Publish(ctx, []engine.Message{{Subject: f.names.subject(areaNow, what), Data: text}})[0]
}

// publishSessions publishes the newest sessions when one has an event since a time, and returns the
// time of the newest.
func (f *Fleet) publishSessions(ctx context.Context, since time.Time) time.Time {
	if !since.IsZero() {
		if list, err := f.opts.Machine.Sessions(ctx, since.Add(time.Nanosecond)); err != nil || len(list) == 0 {
			return since
		}
	}
	list, err := f.opts.Machine.Sessions(ctx, time.Now().Add(-keepNow))
	if err != nil {
		return since
	}
	slices.SortFunc(list, func(a, b wire.Session) int { return b.Last.Compare(a.Last) })
	of := said{Machine: f.names.Machine, Sent: time.Now().UTC(), Sessions: list}
	text := encode(of)
	for len(text) > maxFact && len(of.Sessions) > 0 { // the newest half of them
		of.Sessions = of.Sessions[:len(of.Sessions)/2]
		text = encode(of)
	}
	if f.publish(ctx, text, nowSessions) != nil {
		return since
	}
	if len(list) == 0 {
		return time.Now()
	}
	return list[0].Last
}

// publishAsks publishes the asks that are held when one comes or ends, until ctx ends.
func (f *Fleet) publishAsks(ctx context.Context) {
	for tries := 0; f.opts.Machine != nil; tries++ {
		if f.online() && f.followAsks(ctx) {
			tries = -1
		}
		if !backOff(ctx, max(tries, 0), nil) {
			return
		}
	}
}

// followAsks reports whether anything was published. It ends when the asks cannot be published:
// then all of them are, again.
func (f *Fleet) followAsks(ctx context.Context) (published bool) {
	stream := f.opts.Machine.FollowAsks()
	defer stream.Close()
	held := map[string]wire.Ask{}
	for err := error(nil); ; {
		if f.held.Swap(int64(len(held))) == 0 && len(held) > 0 {
			wake(f.replied) // from now on it looks for answers often
		}
		if f.publish(ctx, f.names.asks(held), nowAsks) != nil || err != nil {
			return published
		}
		published = true
		var lines []byte
		lines, err = stream.Next(ctx, nil)
		for line := range bytes.Lines(lines) {
			var r struct {
				Type string `json:"type"`
				wire.Ask
			}
			switch {
			case json.Unmarshal(line, &r) != nil:
			case r.Type == "ask":
				held[r.ID] = withCard(r.Ask, f.opts.Asked)
			case r.Type == "answered":
				delete(held, r.ID)
			}
		}
	}
}

// asks is this machine's word on its asks, the oldest first. Where they do not fit, the newest
// lose their cards: those can be allowed on this machine alone.
func (n Names) asks(held map[string]wire.Ask) []byte {
	of := said{Machine: n.Machine, Sent: time.Now().UTC()}
	size := len(encode(of))
	for _, id := range slices.Sorted(maps.Keys(held)) {
		a := held[id]
		more := len(encode(a)) + 1
		if size+more > maxFact {
			a.Card = nil
			more = len(encode(a)) + 1
		}
		if size+more > maxFact {
			break
		}
		size += more
		of.Asks = append(of.Asks, a)
	}
	return encode(of)
}

// mostCard is how large a whole card may be that is published.
const mostCard = maxFact / 4

// withCard is an ask with its whole card, unless that is too large: then it can be
// allowed on its own machine alone.
func withCard(a wire.Ask, asked Asked) wire.Ask {
	if a.Card == nil || a.Card.Whole || asked == nil {
		return a
	}
	if whole, ok := asked.Ask(a.ID); ok && whole.Card != nil && len(encode(whole.Card)) <= mostCard {
		a.Card = whole.Card
	}
	return a
}
