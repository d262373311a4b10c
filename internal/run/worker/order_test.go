package worker

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/proc"
)

// answers are those without a failure, in the order in which they came.
type answers struct {
	submitting sync.Mutex

	mu    sync.Mutex
	ids   []string
	want  []string // ids in the order submitted
	ended int
}

// wait waits until all calls have ended.
func (a *answers) wait(b *bench) (ids, want []string) {
	b.Helper()
	b.until("all calls have ended", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		ids, want = slices.Clone(a.ids), slices.Clone(a.want)
		return a.ended == len(a.want)
	})
	return ids, want
}

// submit submits a call whose answer counts if it has no failure.
func (a *answers) submit(p *Pool, c *Request) {
	a.submitting.Lock()
	defer a.submitting.Unlock()
	a.mu.Lock()
	a.want = append(a.want, c.ID)
	a.mu.Unlock()
	c.Done = func(ans Response) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended++
		if ans.Err == nil && ans.Failure == "" && !ans.TimedOut {
			a.ids = append(a.ids, c.ID)
		}
	}
	p.Submit(c)
}

// However a worker ends, the calls that it had go before calls that came while it ended.
func TestSubmitOrderAfterTheEndOfAWorker(t *testing.T) {
	for name, end := range map[string]func(b *bench, p *Pool) *Request{
		"crash": func(b *bench, _ *Pool) *Request { return call("once=" + filepath.Join(b.TempDir(), "once")) },
		"deadline": func(*bench, *Pool) *Request {
			c := call("hang")
			c.Timeout = 200 * time.Millisecond
			return c
		},
		"cancel": func(b *bench, p *Pool) *Request {
			c := call("hang")
			go b.until("the call is with a worker", func() bool {
				p.observers.mu.Lock()
				there := len(p.observers.workers) == 1 && len(p.observers.workers[0].calls) > 0
				p.observers.mu.Unlock()
				return there && b.set.Cancel(p.key.ID, c.ID)
			})
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got answers
			var p *Pool
			var first sync.Once
			b := newBench(t, Options{Joined: func(string, proc.Process, func() int) func() {
				return func() { // the worker has ended, and its calls are not requeued yet
					first.Do(func() {
						for range 10 {
							got.submit(p, call(""))
						}
						p.observers.mu.Lock()
						defer p.observers.mu.Unlock()
						if n := p.observers.starting; n > 0 {
							t.Errorf("%d workers are started for calls that are not the oldest", n)
						}
					})
				}
			}})
			p = b.pool("lines", 0)
			got.submit(p, end(b, p))
			for range 10 {
				got.submit(p, call(""))
			}
			ids, want := got.wait(b)
			if name != "crash" { // its call has failed
				want = want[1:]
			}
			if !slices.Equal(ids, want) {
				t.Errorf("answered\n%v, submitted\n%v", ids, want)
			}
		})
	}
}

// While there is no process to spare calls wait, and keep their order.
func TestSubmitWithoutAProcess(t *testing.T) {
	var short, starts atomic.Int32
	b := newBench(t, Options{Short: func(error) { short.Add(1) }})
	var got answers
	p := b.pool("lines", 0)
	began := p.hook.Start
	p.hook.Start = func(looks func(string)) (Start, error) {
		if starts.Add(1) <= 3 {
			got.submit(p, call(""))
			return Start{}, fmt.Errorf("start: %w", unix.EAGAIN)
		}
		return began(looks)
	}
	for range 10 {
		got.submit(p, call(""))
	}
	ids, want := got.wait(b)
	if !slices.Equal(ids, want) || short.Load() != 3 || b.starts(p) != 1 {
		t.Errorf("answered\n%v, submitted\n%v; %d starts, %d were tried again", ids, want, b.starts(p), short.Load())
	}
}

// A stop does not wait until there is a process to spare.
func TestCloseWithoutAProcess(t *testing.T) {
	short := make(chan struct{}, 100)
	b := newBench(t, Options{Short: func(error) { short <- struct{}{} }})
	p := b.pool("lines", 0)
	p.hook.Start = func(func(string)) (Start, error) { return Start{}, unix.ENFILE }
	done := submit(p, call(""))
	<-short
	b.set.Close(t.Context())
	if a := b.await(done); !errors.Is(a.Err, unix.ENFILE) {
		t.Errorf("got %+v", a)
	}
}
