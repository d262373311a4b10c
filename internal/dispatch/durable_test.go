package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// disk is a Recorder that keeps runs and records as a store would have them after a crash.
type disk struct {
	tape
	slow chan struct{} // when not nil, Accept's answer waits for it to be closed

	mu      sync.Mutex
	waiting []events.Pending // in the order accepted
	dead    []string
	refuse  *wire.Error
}

func (k *disk) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	k.tape.mu.Lock()
	k.tape.seq++
	e.Seq = k.tape.seq
	k.tape.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuse != nil {
		if stored == nil || e.Wait && e.Contract.Decidable {
			if stored != nil {
				stored(false, nil)
			}
			return nil
		}
		return k.refuse
	}
	for _, h := range hooks {
		k.waiting = append(k.waiting, events.Pending{Event: e, Hook: h})
	}
	if stored == nil {
		return nil
	}
	if k.slow == nil {
		stored(true, nil)
		return nil
	}
	go func() { <-k.slow; stored(true, nil) }()
	return nil
}

func (k *disk) Finished(key events.PendingKey, r wire.Run, fate Fate) {
	if r.ID != "" {
		k.tape.Finished(key, r, fate)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.waiting, func(w events.Pending) bool { return w.Key() == key })
	switch {
	case i < 0:
	case !fate.Again.IsZero():
		k.waiting[i].Attempt++
		k.waiting[i].Due = fate.Again
	case fate.Dead != "":
		k.dead = append(k.dead, key.Hook+": "+fate.Dead)
		fallthrough
	case fate.Ended:
		k.waiting = slices.Delete(k.waiting, i, i+1)
	}
}

// down has the disk fail so from now on; nil = it does not.
func (k *disk) down(err *wire.Error) { k.mu.Lock(); defer k.mu.Unlock(); k.refuse = err }

func (k *disk) Durable() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.refuse == nil }

func (k *disk) NextPending(after uint64) (size int64, err error) {
	list, err := k.Pending(after, 1)
	if len(list) > 0 {
		size = int64(len(list[0].Event.Data))
	}
	return size, err
}

func (k *disk) Pending(after uint64, limit int) (page []events.Pending, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuse != nil {
		return nil, k.refuse
	}
	seen := map[uint64]bool{}
	list := slices.Clone(k.waiting)
	slices.SortStableFunc(list, func(a, b events.Pending) int { return cmp.Compare(a.Event.Seq, b.Event.Seq) })
	for _, w := range list {
		if w.Event.Seq <= after {
			continue
		}
		if seen[w.Event.Seq] = true; len(seen) > limit {
			break
		}
		page = append(page, w)
	}
	return page, nil
}

func (k *disk) left() int { k.mu.Lock(); defer k.mu.Unlock(); return len(k.waiting) }

// newKeeper makes a bench whose recorder keeps.
func newKeeper(t *testing.T, o Options, hooks []*hook.Hook, behaviours map[string]behaviour) (*bench, *disk) {
	t.Helper()
	k := &disk{}
	o.Recorder = k
	b := newBench(t, o, hooks, behaviours)
	return b, k
}

// pass lets time go by, in a bubble.
func pass(d time.Duration) { <-time.After(d) }

// payloads are the payloads that a hook was given, in the order its runs started.
func (b *bench) payloads(name string) (list []string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	for _, line := range b.fake.ran {
		if f := strings.SplitN(line, " ", 3); f[0] == name {
			list = append(list, f[2])
		}
	}
	return list
}

// until waits for a change that other goroutines make.
func (b *bench) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(30 * time.Second); !cond(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestAFullQueueGoesOnOnDiskInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("a", "x"), matchtest.Hook("b", "x")}
		b, k := newKeeper(t, Options{Observers: 4, MaxEvents: 3}, hooks, map[string]behaviour{"a": {takes: time.Second}, "b": {takes: time.Second}})
		for i := range 40 {
			if _, err := b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: fmt.Appendf(nil, `{"n":%02d}`, i)}); err != nil {
				t.Fatal(err)
			}
		}
		if s := b.Stats(); !s.Behind || s.QueuedEvents > 3 {
			t.Errorf("load %+v, want 3 events in memory and the rest behind", s)
		}
		pass(time.Minute)
		synctest.Wait()
		if k.left() != 0 || b.Stats().Behind {
			t.Errorf("%d left, load %+v", k.left(), b.Stats())
		}
		for _, name := range []string{"a", "b"} {
			if got := b.payloads(name); len(got) != 40 || !slices.IsSorted(got) {
				t.Errorf("%s ran for %v, want all 40 in order", name, got)
			}
		}
		if _, err := b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: []byte(`{"n":99}`)}); err != nil || b.Stats().Behind {
			t.Errorf("afterwards %v, %+v", err, b.Stats())
		}
	})
}

func TestObserversOnDiskAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newKeeper(t, Options{Observers: 1, MaxEvents: 1}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{"a": {takes: time.Second}})
		for range 5 {
			b.Emit(Origin{}, events.Envelope{Event: "x", Data: []byte(`{}`)})
		}
		r, err := b.Emit(Origin{}, events.Envelope{Event: "x", Wait: true, Data: []byte(`{}`)})
		if err != nil || len(r.Runs) != 1 || r.Runs[0].Result != wire.ResultOK {
			t.Errorf("got %+v %v, want its run", r, err)
		}
	})
}

func TestARefusedDiskRefusesObserversOnly(t *testing.T) {
	b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x"), matchtest.Hook("g", "pre_tool_use")}, map[string]behaviour{})
	k.refuse = &wire.Error{Code: wire.CodeStorage, Message: "full"}
	if _, err := b.Emit(Origin{}, events.Envelope{Event: "x", Data: []byte(`{}`)}); err != k.refuse {
		t.Errorf("an observer's event: %v, want %v", err, k.refuse)
	}
	r, err := b.Emit(Origin{}, events.Envelope{Event: "pre_tool_use", Wait: true, Data: []byte(`{}`)})
	if err != nil || r.Verdict == nil || len(r.Runs) != 1 {
		t.Errorf("a decidable event: %+v %v, want its verdict", r, err)
	}
	if s := b.Stats(); s.QueuedEvents != 0 {
		t.Errorf("load %+v, want nothing reserved", s)
	}
}

func TestAVerdictWaitsForNoDisk(t *testing.T) {
	b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("g", "pre_tool_use"), matchtest.Hook("watch", "pre_*")}, map[string]behaviour{})
	k.slow = make(chan struct{})
	r, err := b.Emit(Origin{}, events.Envelope{Event: "pre_tool_use", Wait: true, Data: []byte(`{}`)})
	if err != nil || r.Verdict == nil {
		t.Fatalf("got %+v %v", r, err)
	}
	if got := b.payloads("watch"); len(got) != 0 {
		t.Errorf("the observer ran before its event was kept: %v", got)
	}
	close(k.slow)
	b.until(t, "the observer has run", func() bool { return len(b.payloads("watch")) == 1 })
}

func TestResumeTakesUpWhatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{MaxEvents: 2}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{})
		old := func(seq uint64, hook string, age time.Duration) events.Pending {
			e := &events.Event{Envelope: events.Envelope{Event: "x", SessionID: "s", Data: fmt.Appendf(nil, `{"n":%02d}`, seq)}, EventID: fmt.Sprint("E", seq), Seq: seq, Time: time.Now().Add(-age), Contract: events.For("", "x")}
			return events.Pending{Event: e, Hook: hook}
		}
		for seq := uint64(1); seq <= 10; seq++ {
			k.waiting = append(k.waiting, old(seq, "a", time.Hour))
		}
		k.waiting = append(k.waiting, old(11, "a", 48*time.Hour), old(12, "gone", time.Hour), old(13, "a", time.Hour), old(14, "a", time.Hour))
		k.waiting[12].RunID, k.waiting[12].Started = "R13", time.Now().Add(-time.Minute)
		k.waiting[13].Due = time.Now().Add(time.Hour)
		k.seq = 14
		b.Resume(15, 24*time.Hour)
		if _, err := b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: []byte(`{"n":15}`)}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		synctest.Wait()
		want := []string{`{"n":01}`, `{"n":02}`, `{"n":03}`, `{"n":04}`, `{"n":05}`, `{"n":06}`, `{"n":07}`, `{"n":08}`, `{"n":09}`, `{"n":10}`, `{"n":13}`, `{"n":15}`}
		if got := b.payloads("a"); !slices.Equal(got, want) {
			t.Errorf("ran for %v\nwant    %v", got, want)
		}
		if len(k.dead) != 1 || k.dead[0] != "a: older than replay_max_age (24h0m0s) when hookd came back" {
			t.Errorf("dead letters %q", k.dead)
		}
		results := k.results()
		if !slices.Contains(results, "gone:dropped") || !slices.Contains(results, "a:interrupted") {
			t.Errorf("results %v, want one dropped and one interrupted", results)
		}
		pass(2 * time.Hour)
		synctest.Wait()
		if got := b.payloads("a"); len(got) != 13 || got[12] != `{"n":14}` || k.left() != 0 {
			t.Errorf("later %v, %d left; want the retry that was due", got, k.left())
		}
	})
}

func TestResumeWaitsForADiskThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{})
		e := &events.Event{Envelope: events.Envelope{Event: "x", Data: []byte(`{"n":1}`)}, EventID: "E1", Seq: 1, Time: time.Now(), Contract: events.For("", "x")}
		k.waiting, k.seq = []events.Pending{{Event: e, Hook: "a"}}, 1
		k.down(&wire.Error{Code: wire.CodeStorage, Message: "gone"})
		b.Resume(2, time.Hour)
		pass(time.Minute)
		synctest.Wait()
		if got := b.payloads("a"); len(got) != 0 {
			t.Fatalf("ran for %v, which cannot be read", got)
		}
		if n := b.logs.FilterMessageSnippet("cannot be read").Len(); n != 1 {
			t.Errorf("%d warnings of one outage", n)
		}
		k.down(nil)
		pass(time.Minute)
		synctest.Wait()
		if got := b.payloads("a"); !slices.Equal(got, []string{`{"n":1}`}) || k.left() != 0 {
			t.Errorf("ran for %v, %d left; want what an earlier daemon accepted", got, k.left())
		}
	})
}

func TestRetriesBackOffAndEndAsDeadLetters(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprint("kept=", kept), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := matchtest.Hook("a", "x")
				h.Retry = hook.Retry{Max: 3, Backoff: time.Second}
				behaviours := map[string]behaviour{"a": {exit: 1}}
				b, k := newKeeper(t, Options{}, []*hook.Hook{h}, behaviours)
				if !kept {
					b = newBench(t, Options{}, []*hook.Hook{h}, behaviours)
				}
				begin := time.Now()
				b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: []byte(`{"n":1}`)})
				synctest.Wait()
				if got := b.Stats().Retrying; got != 1 {
					t.Errorf("%d wait for another attempt, want 1", got)
				}
				pass(time.Hour)
				synctest.Wait()
				if got := b.payloads("a"); len(got) != 4 {
					t.Errorf("ran %d times, want 4", len(got))
				}
				if kept && (len(k.dead) != 1 || k.dead[0] != "a: failed 4 times, last: exit status 1" || k.left() != 0) {
					t.Errorf("dead letters %q, %d left", k.dead, k.left())
				}
				runs := k.runs
				if !kept {
					runs = b.tape.runs
				}
				for i, longest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
					if gap := runs[i+1].Started.Sub(runs[i].Started); gap < longest/2 || gap > longest {
						t.Errorf("attempt %d came after %s, want %s to %s", i+2, gap, longest/2, longest)
					}
				}
				if last := runs[3].Started.Sub(begin); last > 8*time.Second {
					t.Errorf("the last came after %s", last)
				}
			})
		})
	}
}

// A retry that is due later than any can be is of a time before the clock was set back.
func TestARetryOfALaterTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{})
		e := &events.Event{Envelope: events.Envelope{Event: "x", Data: []byte(`{}`)}, EventID: "E", Seq: 1, Time: time.Now(), Contract: events.For("", "x")}
		k.waiting = []events.Pending{{Event: e, Hook: "a", Attempt: 1, Due: time.Now().Add(5 * time.Hour)}}
		k.seq = 1
		b.Resume(2, 24*time.Hour)
		pass(maxBackoff)
		synctest.Wait()
		if got := b.payloads("a"); len(got) != 1 {
			t.Errorf("an hour later it ran %d times, want once", len(got))
		}
	})
}

func TestARetryHoldsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := matchtest.Hook("a", "x")
		h.Retry = hook.Retry{Max: 1, Backoff: time.Minute}
		var failed bool
		b, _ := newKeeper(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"a": {fails: func() bool { was := failed; failed = true; return !was }}})
		b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: []byte(`{"n":1}`)})
		b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: []byte(`{"n":2}`)})
		synctest.Wait()
		pass(2 * time.Minute)
		synctest.Wait()
		want := []string{`{"n":1}`, `{"n":2}`, `{"n":1}`}
		if got := b.payloads("a"); !slices.Equal(got, want) {
			t.Errorf("ran for %v, want %v", got, want)
		}
	})
}

func TestDrainLeavesQueuedRunsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{"a": {takes: time.Second}})
		for i := range 5 {
			b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		synctest.Wait()
		if dropped := b.Drain(t.Context()); dropped != 0 {
			t.Errorf("dropped %d", dropped)
		}
		if got := b.payloads("a"); len(got) != 1 || k.left() != 4 {
			t.Errorf("ran for %v, %d left; want the running one to end and 4 left", got, k.left())
		}
	})
}

func TestReplayRunsAsObservers(t *testing.T) {
	b, _ := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("g", "pre_tool_use"), matchtest.Hook("watch", "pre_*")}, map[string]behaviour{"g": {exit: 2}})
	first, err := b.Emit(Origin{}, events.Envelope{Event: "pre_tool_use", Data: []byte(`{"n":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	again := events.Event{Envelope: events.Envelope{Event: "pre_tool_use", Data: []byte(`{"n":1}`), Wait: true, ID: "same"}, EventID: first.EventID}
	r, err := b.Replay(Origin{}, again, "")
	if err != nil || len(r.Matched) != 2 || r.Verdict != nil || r.EventID == first.EventID {
		t.Errorf("got %+v %v", r, err)
	}
	if r, err = b.Replay(Origin{}, again, "g"); err != nil || !slices.Equal(r.Matched, []string{"g"}) {
		t.Errorf("only g: %+v %v", r, err)
	}
	if _, err = b.Replay(Origin{}, again, "none"); err == nil || !errors.As(err, new(*wire.Error)) {
		t.Errorf("only none: %v", err)
	}
	b.until(t, "all have run", func() bool { return len(b.payloads("g")) == 3 && len(b.payloads("watch")) == 2 })
}

// hold keeps stored from being called, so that events are on disk before their
// senders get, until announce.
func (k *disk) hold() (announce func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := make(chan struct{})
	k.slow = held
	return func() {
		k.mu.Lock()
		k.slow = nil
		k.mu.Unlock()
		close(held)
	}
}

func TestAnEventHasNoOwnerBeforeItsSenderIsAnswered(t *testing.T) {
	for _, full := range []bool{true, false} { // while the backlog is on, and while it comes to its end
		synctest.Test(t, func(t *testing.T) {
			b, k := newKeeper(t, Options{Observers: 1, MaxEvents: 1}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{"a": {takes: time.Second}})
			for i := range 3 {
				b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Data: fmt.Appendf(nil, `{"n":%d}`, i)})
			}
			if !full {
				pass(2500 * time.Millisecond) // two have run, the last runs, and is out of the backlog
			}
			announce := k.hold()
			done := make(chan Receipt)
			go func() {
				r, _ := b.Emit(Origin{}, events.Envelope{Event: "x", SessionID: "s", Wait: true, Data: []byte(`{"n":3}`)})
				done <- r
			}()
			pass(time.Minute) // whatever reads the disk has long seen it
			synctest.Wait()
			announce()
			r := <-done
			if len(r.Runs) != 1 || r.Runs[0].Result != wire.ResultOK {
				t.Errorf("full=%v: its sender got %+v, want its run", full, r.Runs)
			}
			pass(time.Minute)
			synctest.Wait()
			want := []string{`{"n":0}`, `{"n":1}`, `{"n":2}`, `{"n":3}`}
			if got := b.payloads("a"); !slices.Equal(got, want) || k.left() != 0 {
				t.Errorf("full=%v: ran for %v, %d left; want each once in order", full, got, k.left())
			}
		})
	}
}

func TestWaitersForWhatIsOnDiskGetAnAnswer(t *testing.T) {
	// lost makes the disk forget the runs that wait; gone takes the hook away; stop drains.
	for what, result := range map[string]wire.Result{"lost": wire.ResultDropped, "gone": wire.ResultDropped, "stop": wire.ResultInterrupted, "stop late": wire.ResultInterrupted} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, k := newKeeper(t, Options{Observers: 1, MaxEvents: 1}, []*hook.Hook{matchtest.Hook("a", "x"), matchtest.Hook("b", "x")}, map[string]behaviour{"a": {takes: time.Second}, "b": {takes: time.Second}})
				for range 300 { // more than are read from disk at once
					b.Emit(Origin{}, events.Envelope{Event: "x", Data: []byte(`{}`)})
				}
				announce := func() {}
				if what == "stop late" {
					announce = k.hold()
				}
				done := make(chan Receipt, 1)
				go func() {
					r, _ := b.Emit(Origin{}, events.Envelope{Event: "x", Wait: true, Data: []byte(`{}`)})
					done <- r
				}()
				synctest.Wait()
				switch what {
				case "lost":
					k.mu.Lock()
					k.waiting = k.waiting[:2]
					k.mu.Unlock()
				case "gone":
					b.Publish(&hook.Snapshot{})
				default:
					go b.Drain(t.Context())
					synctest.Wait()
				}
				announce()
				select {
				case r := <-done:
					if len(r.Runs) != 2 || r.Runs[0].Result != result || r.Runs[1].Result != result {
						t.Errorf("got %+v, want two runs that are %s", r.Runs, result)
					}
				case <-time.After(time.Hour):
					t.Error("the sender waits for ever")
				}
				b.Drain(t.Context())
			})
		})
	}
}

func TestADeadLetterIsTriedAgainHoweverOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{})
		e := &events.Event{Envelope: events.Envelope{Event: "x", Data: []byte(`{}`)}, EventID: "E1", Seq: 1, Time: time.Now().Add(-48 * time.Hour), Contract: events.For("", "x")}
		k.seq = 9
		b.Resume(10, 24*time.Hour)
		synctest.Wait()
		k.waiting = []events.Pending{{Event: e, Hook: "a"}}
		b.Retry(events.PendingKey{Seq: 1, Hook: "a"})
		synctest.Wait()
		if got := b.payloads("a"); len(got) != 1 || len(k.dead) != 0 || k.left() != 0 {
			t.Errorf("ran %d times, dead letters %q, %d left; want one run", len(got), k.dead, k.left())
		}
		b.Publish(&hook.Snapshot{})
		k.waiting = []events.Pending{{Event: e, Hook: "a"}}
		b.Retry(events.PendingKey{Seq: 1, Hook: "a"})
		synctest.Wait()
		if len(k.dead) != 1 || k.dead[0] != "a: "+noHook {
			t.Errorf("without its hook: dead letters %q, want it back", k.dead)
		}
	})
}

func TestADeadLetterTriedAgainDuringTheResumeRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, k := newKeeper(t, Options{Observers: 1, MaxEvents: 1}, []*hook.Hook{matchtest.Hook("a", "x")}, map[string]behaviour{"a": {takes: time.Second}})
		for seq := uint64(1); seq <= 5; seq++ {
			e := &events.Event{Envelope: events.Envelope{Event: "x", Data: fmt.Appendf(nil, `{"n":%d}`, seq)}, EventID: fmt.Sprint("E", seq), Seq: seq, Time: time.Now(), Contract: events.For("", "x")}
			k.waiting = append(k.waiting, events.Pending{Event: e, Hook: "a"})
		}
		k.seq = 5
		b.Resume(6, time.Hour)
		synctest.Wait()
		b.Retry(events.PendingKey{Seq: 4, Hook: "a"}) // whose row came back a moment ago
		pass(time.Minute)
		synctest.Wait()
		if got := b.payloads("a"); len(got) != 5 || k.left() != 0 {
			t.Errorf("ran for %v, %d left; want each once", got, k.left())
		}
	})
}

func TestAnOrdinaryRetryIsNotTakenForAnInterruptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := matchtest.Hook("a", "x")
		h.Retry = hook.Retry{Max: 1, Backoff: time.Second}
		b, k := newKeeper(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"a": {exit: 1}})
		b.Emit(Origin{}, events.Envelope{Event: "x", Data: []byte(`{}`)})
		synctest.Wait()
		k.mu.Lock()
		k.waiting[0].RunID = "R1" // the disk is slow to note that the attempt has ended
		k.mu.Unlock()
		pass(time.Minute)
		synctest.Wait()
		if got := k.results(); !slices.Equal(got, []string{"a:failed", "a:failed"}) {
			t.Errorf("runs %v, want the two attempts", got)
		}
	})
}

func TestHooksThatReplayEndAtTheLimit(t *testing.T) {
	for _, way := range []string{"replay", "try"} {
		t.Run(way, func(t *testing.T) {
			h := matchtest.Hook("a", "x")
			var b *bench
			refused := make(chan *wire.Error, 1)
			b = newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"a": {does: func(j *Job) {
				from := Origin{Depth: j.Event.Depth + 1}
				var err *wire.Error
				if way == "replay" {
					_, err = b.Replay(from, *j.Event, "")
				} else {
					_, err = b.Try(t.Context(), from, h, j.Event.Envelope)
				}
				if err != nil {
					refused <- err
				}
			}}})
			if _, err := b.Emit(Origin{}, events.Envelope{Event: "x", Data: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
			if err := <-refused; err.Code != wire.CodeTooDeep {
				t.Errorf("got %v, want %s", err, wire.CodeTooDeep)
			}
			if b.Drain(t.Context()); len(b.payloads("a")) != MaxDepth+1 {
				t.Errorf("ran %d times, want %d", len(b.payloads("a")), MaxDepth+1)
			}
		})
	}
}

// upset is a Recorder that panics once, at Accept.
type upset struct {
	tape
	calls int
}

func (u *upset) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	if u.calls++; u.calls == 1 {
		panic("upset")
	}
	return u.tape.Accept(e, p, hooks, stored)
}

func TestDuplicatesOfAnEventThatPanickedGoOn(t *testing.T) {
	u := &upset{}
	b := newBench(t, Options{Recorder: u}, []*hook.Hook{matchtest.Hook("g", "pre_tool_use")}, map[string]behaviour{"g": {exit: 2}})
	env := events.Envelope{Event: "pre_tool_use", ID: "1", Wait: true, Data: []byte(`{}`)}
	func() {
		defer func() { _ = recover() }()
		b.Emit(Origin{}, env)
	}()
	r, err := b.Emit(Origin{}, env)
	if err != nil || r.Verdict == nil || r.Verdict.Allowed || r.Duplicate {
		t.Errorf("sent again: %+v %v, want the guard's denial", r, err)
	}
}

// A retry that is due waits for room in the queue like a run that waits on disk.
func TestARetryWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &disk{}
		flaky := matchtest.Hook("flaky", "agent:end")
		flaky.Retry = hook.Retry{Max: 3, Backoff: time.Second}
		slow := matchtest.Hook("slow", "agent:step")
		slow.Timeout = 2 * time.Minute
		b := newBench(t, Options{Recorder: k, Observers: 2, MaxBytes: 2000}, []*hook.Hook{flaky, slow},
			map[string]behaviour{"flaky": {exit: 1}, "slow": {takes: 20 * time.Second}})
		data := `"data":{"t":"` + strings.Repeat("x", 700) + `"}}`
		b.emit(t, `{"event":"agent:end",`+data)
		synctest.Wait()
		b.emit(t, `{"event":"agent:step",`+data)
		began := time.Now()
		b.until(t, "half of the slow run", func() bool { return time.Since(began) >= 10*time.Second })
		if _, _, bytes, _ := b.observers.queue.load(); bytes > QueueShare(2000) {
			t.Errorf("%d bytes are in memory, want %d at most", bytes, QueueShare(2000))
		}
		if n := attempts(k); n != 1 {
			t.Errorf("%d attempts while there is no room, want 1", n)
		}
		b.until(t, "all attempts when there is room", func() bool { return attempts(k) == 4 })
		b.until(t, "the end of the last", func() bool { return k.left() == 0 })
		if n := attempts(k); n != 4 {
			t.Errorf("%d attempts when there is room, want 4", n)
		}
	})
}

// attempts counts the runs of the hook flaky.
func attempts(k *disk) (n int) {
	for _, r := range k.results() {
		if strings.HasPrefix(r, "flaky:") {
			n++
		}
	}
	return n
}
