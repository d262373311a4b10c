package fleet

import (
	"bytes"
	"context"
	"encoding/json"
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

// The parts of areaNow.
const (
	nowMachine = "machine"
	nowSession = "session"
	nowAsk     = "ask"
)

// publishState publishes the facts and sessions of this machine, until ctx ends.
func (f *Fleet) publishState(ctx context.Context) {
	if f.opts.Machine == nil {
		return
	}
	var last []byte
	var published time.Time
	sessions := time.Now().Add(-keepNow)
	tick := time.NewTicker(f.opts.look)
	defer tick.Stop()
	for {
		if f.online() {
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
	facts.Machine = f.names.Machine
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

// publish replaces a fact of this machine under a name.
func (f *Fleet) publish(ctx context.Context, text []byte, what ...string) error {
	return f.opts.Broker.Publish(ctx, []engine.Message{{Subject: f.names.subject(areaNow, what...), Data: text}})[0]
}

// publishSessions publishes those with events since a time, and returns the time of the newest.
func (f *Fleet) publishSessions(ctx context.Context, since time.Time) time.Time {
	list, err := f.opts.Machine.Sessions(ctx, since.Add(time.Nanosecond))
	if err != nil {
		return since
	}
	newest := since
	messages := make([]engine.Message, len(list))
	for i, s := range list {
		key := token(string(s.Dialect) + "/" + s.SessionID)
		messages[i] = engine.Message{
			Subject: f.names.subject(areaNow, nowSession, key),
			Data:    encode(wire.FleetSession{Machine: f.names.Machine, Session: s}),
		}
		if s.Last.After(newest) {
			newest = s.Last
		}
	}
	for _, err := range f.opts.Broker.Publish(ctx, messages) {
		if err != nil {
			return since
		}
	}
	return newest
}

// publishAsks publishes each ask that is held and each end of one, until ctx ends.
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

// followAsks reports whether anything was published. It ends with the first ask that cannot
// be: then all asks are published again.
func (f *Fleet) followAsks(ctx context.Context) (published bool) {
	stream := f.opts.Machine.FollowAsks()
	defer stream.Close()
	for {
		lines, err := stream.Next(ctx, nil)
		for line := range bytes.Lines(lines) {
			var r struct {
				Type string `json:"type"`
				wire.Ask
			}
			if json.Unmarshal(line, &r) != nil || r.Type != "ask" && r.Type != "answered" {
				continue
			}
			text := encode(wire.FleetAsk{Machine: f.names.Machine, Ask: f.withCard(r.Ask)})
			if f.publish(ctx, text, nowAsk, token(r.ID)) != nil {
				return published
			}
			published = true
		}
		if err != nil {
			return published
		}
	}
}

// mostCard is how large a whole card may be that is published.
const mostCard = 256 << 10

// withCard is an ask with its whole card, unless that is too large: then it can be
// allowed on its own machine alone.
func (f *Fleet) withCard(a wire.Ask) wire.Ask {
	if a.Card == nil || a.Card.Whole || f.opts.Asked == nil {
		return a
	}
	if whole, ok := f.opts.Asked.Ask(a.ID); ok && whole.Card != nil && len(encode(whole.Card)) <= mostCard {
		a.Card = whole.Card
	}
	return a
}
