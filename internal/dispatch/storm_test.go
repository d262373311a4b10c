package dispatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// lateDisk is a disk with a goroutine of its own, as the store is: rows can be
// read a while before stored is called, and some events are refused.
type lateDisk struct {
	disk
	random *rand.Rand // of the goroutine
	ops    chan func()
}

func newLateDisk(seed uint64) *lateDisk {
	k := &lateDisk{random: rand.New(rand.NewPCG(seed, 1)), ops: make(chan func(), 10_000)}
	go func() {
		for op := range k.ops {
			op()
		}
	}()
	return k
}

func (k *lateDisk) moment() { pass(time.Duration(k.random.IntN(20)) * time.Millisecond) }

func (k *lateDisk) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	k.tape.mu.Lock()
	k.tape.seq++
	e.Seq = k.tape.seq
	k.tape.mu.Unlock()
	if stored == nil {
		return nil
	}
	own := *e // the sender's may still get warnings
	k.ops <- func() {
		k.moment()
		if k.random.IntN(10) == 0 {
			stored(false, &wire.Error{Code: wire.CodeStorage, Message: "full"})
			return
		}
		k.mu.Lock()
		for _, h := range hooks {
			k.waiting = append(k.waiting, events.Pending{Event: &own, Hook: h})
		}
		k.mu.Unlock()
		k.moment()
		stored(true, nil)
	}
	return nil
}

// Whatever the disk's pace, the size of the queue and the moment at which hookd
// stops: an accepted run runs once, in this process or, from the disk, in the
// next, in its order; a refused one never does; each sender that waits is answered;
// and nothing stays reserved.
func TestStorm(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { storm(t, seed) })
	}
}

func storm(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 2))
	k := newLateDisk(seed)
	defer close(k.ops)
	hooks := []*hook.Hook{matchtest.Hook("a", "*"), matchtest.Hook("b", "*"), matchtest.Hook("g", "pre_tool_use")}
	behaviours := map[string]behaviour{"a": {takes: 7 * time.Millisecond}, "b": {takes: 13 * time.Millisecond}, "g": {takes: 3 * time.Millisecond}}
	options := Options{Recorder: k, Observers: 1 + random.IntN(4), MaxEvents: 1 + random.IntN(8)}
	b := newBench(t, options, hooks, behaviours)
	b.Resume(1, time.Hour)

	const senders, each = 4, 25
	accepted := make(chan string, senders*each)
	answered := make(chan bool, senders*each)
	for s := range senders {
		own := rand.New(rand.NewPCG(seed, uint64(s)+10))
		go func() {
			for i := range each {
				data := fmt.Sprintf(`{"s":%d,"n":%02d}`, s, i)
				env := events.Envelope{Event: "x", SessionID: fmt.Sprint(s), Data: []byte(data), Wait: own.IntN(4) == 0}
				if own.IntN(5) == 0 {
					env.Event, env.Wait = "pre_tool_use", true
				}
				if own.IntN(2) == 0 {
					env.ID = data
				}
				b.send(env, accepted, answered)
				pass(time.Duration(own.IntN(10)) * time.Millisecond)
			}
		}()
	}
	if random.IntN(2) == 0 {
		pass(time.Duration(random.IntN(900)) * time.Millisecond)
		if dropped := b.Drain(t.Context()); dropped > 10 { // only those whose disk failed just now
			t.Errorf("seed %d: dropped %d", seed, dropped)
		}
	}
	for range senders * each {
		select {
		case <-answered:
		case <-time.After(time.Hour):
			t.Fatalf("seed %d: a sender waits for ever", seed)
		}
	}
	pass(time.Hour)
	b.Drain(t.Context())
	ran := b.fake.ran
	if s := b.Stats(); s.QueuedEvents != 0 || s.QueuedBytes != 0 || s.QueuedRuns != 0 {
		t.Errorf("seed %d: still reserved: %+v", seed, s)
	}

	next := newBench(t, Options{Recorder: k}, hooks, behaviours)
	next.Resume(k.seq+1, 24*time.Hour)
	pass(time.Hour)
	next.Drain(t.Context())
	close(accepted)
	checkStorm(t, seed, slices.Collect(values(accepted)), append(ran, next.fake.ran...))
	if k.left() != 0 {
		t.Errorf("seed %d: %d left on disk", seed, k.left())
	}
}

// send sends an event and goes on, whatever it waits for.
func (b *bench) send(env events.Envelope, accepted chan<- string, answered chan<- bool) {
	rcpt, rest, err := b.Begin(Origin{}, &env)
	go func() {
		if err == nil && rest != nil {
			err = rest(&rcpt)
		}
		if err == nil {
			accepted <- env.Event + " " + string(env.Data)
		}
		answered <- true
	}()
}

func values(c <-chan string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}

// checkStorm compares the events that ran with those accepted.
func checkStorm(t *testing.T, seed uint64, accepted, ran []string) {
	t.Helper()
	times := map[string]int{}
	for _, line := range ran {
		times[line]++
	}
	for _, event := range accepted {
		for _, h := range []string{"a", "b"} {
			if n := times[h+" "+event]; n > 1 || n == 0 && strings.HasPrefix(event, "x ") {
				t.Errorf("seed %d: %s ran %d times for %s", seed, h, n, event)
			}
			delete(times, h+" "+event)
		}
		delete(times, "g "+event)
	}
	for line := range times {
		t.Errorf("seed %d: ran for an event that was refused: %s", seed, line)
	}
	last := map[string]string{} // by hook and session
	for _, line := range ran {
		f := strings.SplitN(line, " ", 3)
		lane, n := f[0]+f[2][:strings.Index(f[2], ",")], f[2]
		if f[1] != "x" {
			continue // one that the disk refused goes on at once: its sender waits for its verdict
		}
		if n < last[lane] {
			t.Errorf("seed %d: %s ran for %s after %s", seed, f[0], n, last[lane])
		}
		last[lane] = n
	}
}
