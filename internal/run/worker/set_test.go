package worker

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// The workers of a hook that is not in force any more end when they have answered;
// later calls are answered, too.
func TestRetain(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	file := filepath.Join(t.TempDir(), "go")
	wantAnswer(t, b.ask(p, ""), "")
	busy := submit(p, call("wait="+file))
	b.until("two workers", func() bool { return len(b.workers(p)) == 2 })

	b.set.Retain(func(k Key) bool { return k == p.key })
	if got := len(b.workers(p)); got != 2 {
		t.Errorf("got %d workers of a hook that stays", got)
	}
	b.set.Retain(func(Key) bool { return false })
	b.until("the idle one to end", func() bool { return len(b.workers(p)) == 1 })
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, b.await(busy), "")
	b.until("the busy one to end", func() bool { return len(b.workers(p)) == 0 })

	late := b.pool("lines", 0)
	wantAnswer(t, b.ask(late, ""), "")
	wantAnswer(t, b.await(submit(late, call(""))), "")
	b.until("all to end", func() bool { return len(b.workers(late)) == 0 })
	b.until("the pool to be forgotten", func() bool {
		b.set.mu.RLock()
		defer b.set.mu.RUnlock()
		return len(b.set.pools) == 0
	})
	b.wantQuiet()
}

// Calls are submitted while others look whether the hook's workers are gone: neither waits for
// a lock that the other has.
func TestCallsWhileAPoolIsLookedAt(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	for range hooktest.Amount(30, 5) {
		ctx, end := context.WithCancel(t.Context())
		var looking sync.WaitGroup
		looking.Go(func() {
			for ctx.Err() == nil {
				p.empty()
			}
		})
		var calls []<-chan Response
		for range 2000 {
			calls = append(calls, submit(p, call("")))
		}
		for _, c := range calls {
			wantAnswer(t, b.await(c), "")
		}
		end()
		looking.Wait()
		p.endIdle()
		b.until("its worker has ended", p.empty)
	}
}

func TestClose(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 2)
	wantAnswer(t, b.ask(p, ""), "")
	wantAnswer(t, b.await(submit(p, call(""))), "")
	b.set.Close(t.Context())
	if got := b.workers(p); len(got) != 0 {
		t.Errorf("got %+v after Close", got)
	}
	if a := b.await(submit(p, call(""))); a.Err == nil {
		t.Errorf("got %+v after Close", a)
	}
	b.wantQuiet()
}

// A worker that does not exit when stdin closes gets SIGTERM, then is killed.
func TestCloseStubborn(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("stubborn", 0)
	wantAnswer(t, b.ask(p, ""), "")
	b.set.Close(t.Context()) // SIGTERM
	if got := b.workers(p); len(got) != 0 {
		t.Errorf("got %+v after Close", got)
	}
}

func TestCloseNow(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	busy := submit(p, call("hang"))
	b.until("a worker", func() bool { return len(b.workers(p)) == 1 })
	waiting := submit(p, call("hang"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	b.set.Close(ctx)
	for _, d := range []<-chan Response{busy, waiting} {
		if a := b.await(d); a.Failure == "" && a.Err == nil {
			t.Errorf("got %+v, want a failure", a)
		}
	}
	if got := b.workers(p); len(got) != 0 {
		t.Errorf("got %+v after Close", got)
	}
}
