package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match/matchtest"
)

// pipes is a Submitter that holds what it is given until it is told to answer.
type pipes struct {
	*fake

	mu      sync.Mutex
	begun   []string // payloads, in order
	waiting []func(Outcome)
	most    int
}

func (p *pipes) Submit(_ context.Context, j *Job, done func(Outcome)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.Awaited {
		panic("an awaited job among the observers")
	}
	p.begun = append(p.begun, string(j.Payload))
	p.waiting = append(p.waiting, done)
	p.most = max(p.most, len(p.waiting))
}

// answer ends the first n of what waits.
func (p *pipes) answer(n int) {
	p.mu.Lock()
	n = min(n, len(p.waiting))
	done := slices.Clone(p.waiting[:n])
	p.waiting = slices.Delete(p.waiting, 0, n)
	p.mu.Unlock()
	for _, d := range done {
		d(Outcome{Started: time.Now()})
	}
}

func (p *pipes) state() (begun []string, waiting, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.begun), len(p.waiting), p.most
}

func newPipes(t *testing.T, o Options, hooks ...*hook.Hook) (*bench, *pipes) {
	t.Helper()
	p := &pipes{fake: &fake{hooks: map[string]behaviour{}, running: map[string]int{}, most: map[string]int{}}}
	b := &bench{fake: p.fake, tape: &tape{}}
	o.Runner, o.Recorder = p, b.tape
	b.Dispatcher = New(o)
	b.Publish(matchtest.Snapshot(hooks...))
	return b, p
}

func kept(h *hook.Hook) { h.Persistent = true }

// Observers of a persistent hook take no slot, are Window at a copy, begin in
// the order accepted, and wait for each other only where they have to.
func TestPipedObservers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*hook.Hook)
		first  int // that begin before any is answered
	}{
		{"one-copy", kept, Window},
		{"two-copies", func(h *hook.Hook) { kept(h); h.Concurrency = 2; h.Order = hook.OrderParallel }, 2 * Window},
		{"two-copies-sessions", func(h *hook.Hook) { kept(h); h.Concurrency = 2 }, 3},
		{"serial", func(h *hook.Hook) { kept(h); h.Order = hook.OrderSerial }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, p := newPipes(t, Options{Observers: 1}, matchtest.With(matchtest.Hook("audit", "x"), tt.change), matchtest.Hook("other", "x"))
				const n = 300
				var want []string
				for i := range n {
					b.emit(t, fmt.Sprintf(`{"event":"x","session_id":"s%d","data":{"i":%d}}`, i%3, i))
					want = append(want, fmt.Sprintf(`{"i":%d}`, i))
				}
				synctest.Wait()
				if begun, _, _ := p.state(); len(begun) != tt.first {
					t.Errorf("got %d begun at first, want %d", len(begun), tt.first)
				}
				for range n {
					p.answer(1)
					synctest.Wait()
				}
				begun, waiting, most := p.state()
				if len(begun) != n || waiting != 0 || most != tt.first {
					t.Errorf("got %d begun, %d waiting, %d at most at once, want %d", len(begun), waiting, most, tt.first)
				}
				if tt.name != "two-copies-sessions" && !slices.Equal(begun, want) {
					t.Errorf("begun in the order %v", begun)
				}
				b.Drain(t.Context())
				if got := len(b.tape.results()); got != 2*n {
					t.Errorf("got %d runs, want %d", got, 2*n)
				}
				if s := b.Stats(); s.QueuedRuns != 0 || s.RunningObserve != 0 || s.QueuedEvents != 0 {
					t.Errorf("got %+v at the end", s)
				}
			})
		})
	}
}

// A stop leaves nothing behind: what has not begun is dropped, what has is
// answered or killed by the Submitter.
func TestDrainOfPipedObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newPipes(t, Options{}, matchtest.With(matchtest.Hook("audit", "x"), kept))
		for range 100 {
			b.emit(t, `{"event":"x"}`)
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		dropped := make(chan int)
		go func() { dropped <- b.Drain(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		p.answer(Window)
		if n := <-dropped; n != 100-Window {
			t.Errorf("got %d dropped, want %d", n, 100-Window)
		}
		if got := len(b.tape.results()); got != 100 {
			t.Errorf("got %d runs, want one for each", got)
		}
	})
}

// Who is waited for goes through Run, marked so.
func TestAwaitedJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newPipes(t, Options{}, matchtest.With(matchtest.Hook("guard", "pre_tool_use"), kept), matchtest.With(matchtest.Hook("audit", "odd"), kept))
		awaited := map[string]bool{}
		for _, name := range []string{"guard", "audit"} {
			p.hooks[name] = behaviour{does: func(j *Job) { awaited[j.Hook.Name] = j.Awaited }}
		}
		b.emit(t, `{"event":"pre_tool_use","wait":true}`)
		if !awaited["guard"] {
			t.Error("a verdict is not waited for")
		}
		r, err := b.try(t, Origin{Depth: 1, Hook: "guard"}, `{"event":"odd","wait":true}`)
		if err != nil || len(r.Runs) != 1 || !awaited["audit"] {
			t.Errorf("got %+v, %v: a hook waits for it", r, err)
		}
	})
}

// A process that is kept is as deep as what it works on, for as long as it lives.
func TestJoined(t *testing.T) {
	alive := true
	c := newChain(func(int) bool { return alive })
	depth := 0
	left := c.joined("audit", Process{PID: 7, Cgroup: "/c"}, func() int { return depth })
	for _, depth = range []int{0, 3, 1, MaxDepth + 5} {
		want := Origin{Depth: min(depth, MaxDepth) + 1, Hook: "audit"}
		if got := c.origin(Sender{Session: 7, Group: 7}, time.Now()); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := c.origin(Sender{Session: 9, Group: 9, Cgroup: "/c"}, time.Now()); got != want {
			t.Errorf("got %+v by its cgroup, want %+v", got, want)
		}
	}
	depth = 2
	left()
	if got := c.origin(Sender{Session: 7, Group: 7}, time.Now()); got.Depth != 3 {
		t.Errorf("got %+v of what it left behind, want depth 3", got)
	}
	alive = false
	c.joined("other", Process{PID: 8}, func() int { return 0 })
	if got := c.origin(Sender{Session: 7, Group: 7}, time.Now()); got != (Origin{}) {
		t.Errorf("got %+v of a process that is gone", got)
	}
	over := c.busy(4)
	if got := c.origin(Sender{Gone: true}, time.Now()); got.Depth != 5 {
		t.Errorf("got %+v of a sender that is gone, want deeper than the deepest run", got)
	}
	over()
}
