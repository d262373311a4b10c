package ask

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/hookd/hookd/wire"
)

// maxBehind is how many bytes of records wait for a follower. A follower that is further
// behind gets everything again.
const maxBehind = 1 << 20

// Follower reads each ask and each end of one. It fits server.Subscription.
type Follower struct {
	holder  *Holder
	answers bool
	news    chan struct{} // has a token when there is something to read
	once    sync.Once

	// Guarded by Holder.mu.
	behind []byte
	lost   bool // what was behind is not there any more
	closed bool
}

// opened begins a stream, and stands wherever the follower has to forget the asks that it knew.
// Asks is how many asks follow: all that are held.
type opened struct {
	Type string `json:"type"` // open
	Asks int    `json:"asks"`
}

// askRecord is a record about one ask.
type askRecord struct {
	Type string `json:"type"` // ask, answered
	wire.Ask
}

// Follow begins a subscription: first all held asks, then each change. answers
// says that the follower can answer, until it is closed.
func (h *Holder) Follow(answers bool) *Follower {
	h.endGone()
	f := &Follower{holder: h, answers: answers, news: make(chan struct{}, 1), lost: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers[f] = struct{}{}
	f.nudge()
	return f
}

// followers are the open subscriptions of a Holder. Holder.mu guards them: it is held in each method.
type followers map[*Follower]struct{}

// answering is how many can answer.
func (all followers) answering() (n int) {
	for f := range all {
		if f.answers {
			n++
		}
	}
	return n
}

// Presence returns how many followers can answer, and whether a hook runs for asks.
func (h *Holder) Presence() (answering int, hooked bool) {
	h.mu.Lock()
	n := h.followers.answering()
	h.mu.Unlock()
	return n, h.opts.Hooked()
}

// publish gives each follower a record about a.
func (all followers) publish(what string, a *held) {
	if len(all) == 0 {
		return
	}
	line := record(askRecord{what, short(a.Ask)})
	for f := range all {
		if f.lost {
			continue
		}
		if f.behind = append(f.behind, line...); len(f.behind) > maxBehind {
			f.behind, f.lost = nil, true
		}
		f.nudge()
	}
}

func (f *Follower) nudge() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Next appends records, lines of JSON, to dst. It waits while there are none, and
// returns io.EOF when the follower is closed, ctx's error when ctx ends first.
func (f *Follower) Next(ctx context.Context, dst []byte) ([]byte, error) {
	for {
		select {
		case <-f.news:
		case <-ctx.Done():
			f.holder.endGone() // a stream that is quiet looks for agents that have ended
			return dst, ctx.Err()
		}
		records, err := f.take(dst)
		if err != nil || len(records) > len(dst) {
			return records, err
		}
	}
}

func (f *Follower) take(dst []byte) ([]byte, error) {
	h := f.holder
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.closed {
		return dst, io.EOF
	}
	if f.lost {
		list := shortAsks(h.held)
		dst = append(dst, record(opened{"open", len(list)})...)
		for _, a := range list {
			dst = append(dst, record(askRecord{"ask", a})...)
		}
		f.lost = false
	}
	dst = append(dst, f.behind...)
	f.behind = nil
	return dst, nil
}

// Close ends the subscription.
func (f *Follower) Close() {
	f.once.Do(func() {
		f.holder.mu.Lock()
		defer f.holder.mu.Unlock()
		f.closed = true
		delete(f.holder.followers, f)
		f.nudge()
	})
}

func record(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return nil // of our own types: it cannot fail
	}
	return append(text, '\n')
}
