package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// Where the ring is short, a subscriber that reads from the history up to the ring misses
// nothing that has a number already, and gets nothing twice.
func TestNothingIsMissedBetweenTheRingAndTheHistory(t *testing.T) {
	s, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "hookd.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var r *Recorder
	hub := stream.New(
		stream.Options{Size: 1, First: s.FirstSeq(), Epoch: s.Epoch(), Archive: Archive{s, func() { r.WaitStored() }}},
	)
	r = New(hub, s)
	first := s.FirstSeq()

	const writers, each = 8, 100
	var busy sync.WaitGroup
	for w := range writers {
		busy.Go(func() {
			for i := range each {
				now := time.Now()
				e := &events.Event{
					Envelope: events.Envelope{Event: "x", Data: []byte(`{}`)},
					EventID:  events.NewID(now),
					Time:     now,
					Contract: events.For("", "x"),
				}
				if i%2 == 0 {
					r.Publish(e)
					continue
				}
				run := wire.Run{
					ID:      events.NewRunID(now),
					EventID: e.EventID,
					Event:   "x",
					Hook:    fmt.Sprint("h", w),
					Result:  wire.ResultOK,
					Started: now,
				}
				r.Finished(events.PendingKey{}, run, dispatch.Fate{})
			}
		})
	}
	ended := make(chan struct{})
	go func() { busy.Wait(); close(ended) }()
	for more := true; more; {
		select {
		case <-ended:
			more = false
		default:
		}
		since := first - 1
		sub := hub.Subscribe(nil, stream.From{Since: &since, Once: true})
		checkWhole(t, sub, first)
	}
}

// A target of forward gets each decision, also two that goroutines decide at the same
// moment: its place does not move past a decision that has a number and is not stored yet.
func TestAPlaceMovesPastNoDecision(t *testing.T) {
	s, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "hookd.db"), Durable: store.DurableOS})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := New(stream.New(stream.Options{Size: 1, First: s.FirstSeq(), Epoch: s.Epoch()}), s)
	s.Targets([]string{"siem"})

	const writers, each = 8, 500
	var busy sync.WaitGroup
	for range writers {
		busy.Go(func() {
			for range each {
				now := time.Now()
				r.Decided(&wire.Decision{EventID: events.NewID(now), Time: now, Event: "x", Decision: wire.OutcomeDeny})
			}
		})
	}
	ended := make(chan struct{})
	go func() { busy.Wait(); close(ended) }()
	got := 0
	for more := true; more; {
		select {
		case <-ended:
			more = false
		default:
		}
		for {
			a, err := r.Ahead(t.Context(), "siem", 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Decisions) == 0 {
				break
			}
			got += len(a.Decisions)
			s.Forwarded("siem", a.Decisions[len(a.Decisions)-1].Seq, 0)
		}
	}
	if got != writers*each {
		t.Errorf("%d of %d decisions arrived", got, writers*each)
	}
}

// checkWhole reads a subscription to its end: the numbers from first on, each
// once, except for the numbers that a gap tells.
func checkWhole(t *testing.T, sub *stream.Subscription, first uint64) {
	t.Helper()
	defer sub.Close()
	var text []byte
	for {
		more, err := sub.Next(t.Context(), nil)
		text = append(text, more...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	next, newest := first, uint64(0)
	for line := range bytes.Lines(text) {
		var rec struct {
			Type          string
			Seq, From, To uint64
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch {
		case rec.Type == "epoch":
			newest = rec.Seq
		case rec.Type == "gap" && rec.From == next:
			next = rec.To + 1
		case rec.Seq != next:
			t.Fatalf("after %d came %s", next-1, line)
		default:
			next++
		}
	}
	if newest >= first && next <= newest {
		t.Fatalf("it ended at %d of %d", next-1, newest)
	}
}

// An answer about decisions waits until a bridge has reported the words its agent heard, at most
// flushTime: the agent may show that decision already.
func TestAnAnswerWaitsForWhatAnAgentShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "hookd.db")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := New(stream.New(stream.Options{Size: 8, First: s.FirstSeq(), Epoch: s.Epoch()}), s)
		d := &wire.Decision{EventID: "E", Event: "pre_tool_use"}
		r.Deciding(d, true, false)
		waited := false
		go func() { r.waitSoon(t.Context()); waited = true }()
		synctest.Wait()
		if waited {
			t.Error("it does not wait")
		}
		r.Decided(d)
		synctest.Wait()
		if !waited || len(r.soon) != 0 {
			t.Errorf("after the decision is recorded: done %v, %d waited for", waited, len(r.soon))
		}
		r.Deciding(&wire.Decision{}, true, false)
		before := time.Now()
		r.waitSoon(t.Context())
		if took := time.Since(before); took != flushTime {
			t.Errorf("a sender that does not say it is waited for %v, want %v", took, flushTime)
		}
	})
}
