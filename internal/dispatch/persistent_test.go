package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// pipes is a Submitter that holds its jobs until it may answer.
type pipes struct {
	*fake

	mu       sync.Mutex
	begun    []string // payloads, in order
	jobs     []*Job   // that wait
	waiting  []func(JobResult)
	most     int
	settings int
	beside   []string // jobs that a worker got while another had one of their session
}

func (p *pipes) Settings() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

func (p *pipes) Submit(_ context.Context, j *Job, done func(JobResult)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.Awaited {
		panic("an awaited job among the observers")
	}
	for _, other := range p.jobs {
		if other.Event.SessionID == j.Event.SessionID && (other.Hook.Digest != j.Hook.Digest || other.Settings != j.Settings) {
			p.beside = append(p.beside, string(j.Payload))
		}
	}
	p.jobs = append(p.jobs, j)
	p.begun = append(p.begun, string(j.Payload))
	p.waiting = append(p.waiting, done)
	p.most = max(p.most, len(p.waiting))
}

// answer ends the first n of the jobs that wait.
func (p *pipes) answer(n int) {
	p.mu.Lock()
	n = min(n, len(p.waiting))
	done := slices.Clone(p.waiting[:n])
	p.waiting, p.jobs = slices.Delete(p.waiting, 0, n), slices.Delete(p.jobs, 0, n)
	p.mu.Unlock()
	for _, d := range done {
		d(JobResult{Started: time.Now()})
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

// A changed hook has another worker, and so have changed settings: it gets an event of a
// session when the worker before it has answered the earlier ones. Other sessions do not
// wait for that.
func TestPipedObserversOfAChangedHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newPipes(t, Options{})
		publish := func(digest string) {
			h := matchtest.With(matchtest.Hook("audit", "x"), kept)
			h.Digest = digest
			b.Publish(matchtest.Snapshot(h))
		}
		var want []string
		emit := func(session string, i int) {
			b.emit(t, fmt.Sprintf(`{"event":"x","session_id":%q,"data":{"i":%d}}`, session, i))
			synctest.Wait()
		}
		begun := func(list ...int) {
			t.Helper()
			for _, i := range list {
				want = append(want, fmt.Sprintf(`{"i":%d}`, i))
			}
			if got, _, _ := p.state(); !slices.Equal(got, want) {
				t.Fatalf("begun %v, want %v", got, want)
			}
		}
		answer := func(n int) { p.answer(n); synctest.Wait() }
		publish("1")
		emit("a", 0)
		emit("a", 1)
		publish("2")
		emit("a", 2)
		emit("b", 3)
		publish("1") // as it was; what waits goes before it
		emit("a", 4)
		p.mu.Lock()
		p.settings++
		p.mu.Unlock()
		emit("b", 5)
		begun(0, 1, 3)
		answer(1)
		begun()
		answer(1) // both of session a
		begun(2)
		answer(1)
		begun(5)
		answer(1)
		begun(4)
		answer(2)
		if s := b.Stats(); len(p.beside) > 0 || s.RunningObserve != 0 || s.QueuedRuns != 0 || len(b.observers.queue.strands) != 0 {
			t.Errorf("%v began beside others of their session, %+v at the end with lanes %v", p.beside, s, b.observers.queue.strands)
		}
	})
}

// However hooks and settings change, no two workers have events of one session at once, and
// each event runs.
func TestPipedObserversOfAHookThatChangesOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newPipes(t, Options{})
		random := rand.New(rand.NewPCG(24, 24))
		const n = 2000
		for i := range n {
			if i == 0 || random.IntN(5) == 0 {
				h := matchtest.With(matchtest.Hook("audit", "x"), kept)
				h.Concurrency = random.IntN(3)
				h.Digest = fmt.Sprint(random.IntN(3), h.Concurrency)
				b.Publish(matchtest.Snapshot(h))
			}
			if random.IntN(9) == 0 {
				p.mu.Lock()
				p.settings++
				p.mu.Unlock()
			}
			b.emit(t, fmt.Sprintf(`{"event":"x","session_id":"s%d","data":{"i":%d}}`, random.IntN(7), i))
			if random.IntN(3) == 0 {
				synctest.Wait()
				p.answer(random.IntN(8))
			}
		}
		for b.Stats().QueuedRuns+b.Stats().RunningObserve > 0 {
			synctest.Wait()
			p.answer(1)
		}
		newest := map[string]int{}
		for _, r := range b.tape.find("audit") {
			var at struct{ I int }
			if err := json.Unmarshal([]byte(r.Input), &at); err != nil {
				t.Fatal(err)
			}
			if at.I < newest[r.SessionID] {
				t.Errorf("event %d ended after %d of its session", at.I, newest[r.SessionID])
			}
			newest[r.SessionID] = at.I
		}
		if got, _, _ := p.state(); len(got) != n || len(p.beside) > 0 || len(b.observers.queue.strands)+len(b.observers.queue.hooks) > 0 {
			t.Errorf("%d of %d began, %v beside others of their session; lanes %v", len(got), n, p.beside, b.observers.queue.strands)
		}
	})
}

// A stop leaves nothing behind: a run that has not begun is dropped, a run that has is
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

// A process that is kept is as deep as the event it works on, for as long as it lives.
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
