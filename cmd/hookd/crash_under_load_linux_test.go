package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// seen holds the records that a subscriber was told, and the numbers that are missing.
type seen struct {
	mu   sync.Mutex
	next uint64 // the number that comes next
	bad  error  // a record was not whole, or came out of order
	seqs map[uint64]bool
	gaps [][2]uint64
}

// follow reads the stream from since on, until it ends or is bad.
func (s *seen) follow(ctx context.Context, c *client.Client, since uint64, once bool) error {
	s.next, s.seqs = since+1, map[uint64]bool{}
	return c.Tail(ctx, client.TailOptions{Since: &since, Once: once}, func(raw json.RawMessage) error {
		var r struct {
			Type          string
			Seq, From, To uint64
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			s.bad = fmt.Errorf("after %d came %.100q: %w", s.next-1, raw, err)
			return s.bad
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		first, last := r.Seq, r.Seq
		switch r.Type {
		case "gap":
			first, last = r.From, r.To
			s.gaps = append(s.gaps, [2]uint64{r.From, r.To})
		case "event", "run":
			s.seqs[r.Seq] = true
		default:
			return nil
		}
		if first < s.next {
			s.bad = fmt.Errorf("after %d came %.100q", s.next-1, raw)
			return s.bad
		}
		s.next = last + 1
		return nil
	})
}

// told reports whether a number came as a record or in a gap.
func (s *seen) told(seq uint64) bool {
	for _, g := range s.gaps {
		if g[0] <= seq && seq <= g[1] {
			return true
		}
	}
	return s.seqs[seq]
}

// TestKilledUnderLoad kills hookd again and again while agents send events with
// ids, large ones and ones for which no hook waits, and subscribers read along.
// No accepted event is lost, each number that was answered is a record or a gap
// of the stream, and memory stays within its limit.
func TestKilledUnderLoad(t *testing.T) {
	hooktest.Long(t)
	rounds := amount(20, 3)
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	writeCrashHook(t, home, ran)
	note := "#!/bin/sh\nhead -c 40 | tr -d '\\n' | sed 's/$/\\n/' >> " + ran + "\n"
	if err := os.WriteFile(filepath.Join(home, "hooks", "note", "note.sh"), []byte(note), 0o755); err != nil {
		t.Fatal(err)
	}
	l := &load{T: t, client: client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")}), answered: map[uint64]bool{}, accepted: map[string]bool{}}
	for round := range rounds {
		l.kill(home, round)
	}
	kill := serveUntilKilled(t, home)
	defer kill()
	c := l.client
	hooktest.Until(t, "everything has run", func() bool {
		st, err := c.Status(t.Context())
		if err == nil {
			l.peak = max(l.peak, peakMemory(st.PID))
		}
		return err == nil && st.Store.PendingRuns == 0 && st.Queued == 0
	})
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{}
	for _, id := range regexp.MustCompile(`r\d\d-s\d-n\d{6}`).FindAllString(string(text), -1) {
		runs[id] = true
	}
	lost, silent := 0, 0
	for id := range l.accepted {
		if !runs[id] {
			lost++
			list, err := c.Runs(t.Context(), client.RunQuery{Session: id[:6], Limit: 1000})
			for _, r := range list {
				t.Logf("%s has not run; of its session: %s %s %s", id, r.EventID, r.Result, r.Error)
			}
			hooktest.Must(t, err)
		}
	}
	all := &seen{}
	if err := all.follow(t.Context(), c, 0, true); err != nil {
		t.Fatal(err)
	}
	for seq := range l.answered {
		if !all.told(seq) {
			silent++
		}
	}
	t.Logf("%d rounds: answered %d, with a hook %d, lost %d, silent gaps %d, gaps told %d, at most %d MiB", rounds, len(l.answered), len(l.accepted), lost, silent, len(all.gaps), l.peak>>20)
	if lost > 0 || silent > 0 || len(l.accepted) < rounds {
		t.Errorf("accepted %d, lost %d, silent gaps %d", len(l.accepted), lost, silent)
	}
	if l.peak > maxMemory && !raced {
		t.Errorf("hookd took %d MiB, want no more than %d", l.peak>>20, maxMemory>>20)
	}
}

// load holds the events that agents have sent, and hookd's answers to them.
type load struct {
	*testing.T
	client *client.Client

	mu       sync.Mutex
	answered map[uint64]bool
	accepted map[string]bool // ids of events that have a hook
	peak     int             // of memory, in bytes
}

func (l *load) answers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answered)
}

// kill starts hookd, and kills it after a random number of answers while senders and
// subscribers are busy.
func (l *load) kill(home string, round int) {
	l.Helper()
	kill := serveUntilKilled(l.T, home)
	ctx, end := context.WithCancel(l.Context())
	var busy sync.WaitGroup
	for s := range 4 {
		busy.Go(func() { l.send(ctx, round, s) })
	}
	subscribers := make([]seen, 3)
	for i := range subscribers {
		busy.Go(func() { subscribers[i].follow(ctx, l.client, 0, false) }) // ends with hookd
	}
	st, err := l.client.Status(ctx)
	if err != nil {
		l.Error(err)
	}
	enough := l.answers() + rand.IntN(200)
	hooktest.Until(l.T, "that many events are answered", func() bool {
		l.peak = max(l.peak, peakMemory(st.PID))
		return l.answers() >= enough
	})
	kill()
	end()
	busy.Wait()
	for i := range subscribers {
		if n := l.silent(&subscribers[i]); n > 0 || subscribers[i].bad != nil {
			l.Errorf("round %d: a subscriber was not told of %d numbers, %v", round, n, subscribers[i].bad)
		}
	}
}

// silent counts the answered numbers that a subscriber has passed and was not told of.
func (l *load) silent(s *seen) (n int) {
	for seq := range l.answered {
		if seq < s.next && !s.told(seq) {
			n++
		}
	}
	return n
}

// send sends events until hookd is gone, again where hookd asks for that: every second one has no hook,
// one of twenty is large.
func (l *load) send(ctx context.Context, round, s int) {
	for n := 0; ctx.Err() == nil; n++ {
		id, size, name := fmt.Sprintf("r%02d-s%d-n%06d", round, s, n), 10, "agent:step"
		if n%20 == 5*s {
			size = largeBytes
		}
		if n%2 == 1 {
			name = "agent:quiet"
		}
		data := fmt.Sprintf(`{"id":%q,"pad":%q}`, id, strings.Repeat("x", size))
		event := client.Event{Event: name, ID: id, SessionID: id[:6], Data: []byte(data)}
		answer, err := l.client.Emit(ctx, event)
		for client.Retryable(err) && ctx.Err() == nil {
			<-time.After(10 * time.Millisecond)
			answer, err = l.client.Emit(ctx, event)
		}
		if err != nil {
			return
		}
		l.mu.Lock()
		l.answered[answer.Seq] = true
		if name == "agent:step" {
			l.accepted[id] = true
		}
		l.mu.Unlock()
	}
}
