package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSubmitMany(t *testing.T) { submitMany(t, 2000, "") }

// The pipe to the worker is full most of the time.
func TestSubmitManyLongLines(t *testing.T) { submitMany(t, 500, strings.Repeat("x", 20_000)) }

func submitMany(t *testing.T, n int, pad string) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	all.Add(n)
	var want []string
	for i := range n {
		c := call("")
		c.ID = fmt.Sprintf("E%d", i)
		c.Line = fmt.Appendf(nil, "{\"event_id\":%q,\"pad\":%q}\n", c.ID, pad)
		c.Done = func(a Response) {
			defer all.Done()
			if a.Failure != "" || a.Err != nil {
				t.Errorf("%s: %+v", c.ID, a)
			}
			mu.Lock()
			order = append(order, c.ID)
			mu.Unlock()
		}
		want = append(want, c.ID)
		p.Submit(c)
	}
	all.Wait()
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("answered in the order %v", order)
	}
	if list := b.workers(p); len(list) != 1 || list[0].Slots != "observers" || list[0].Answered != uint64(n) || b.starts(p) != 1 {
		t.Errorf("got workers %+v, %d starts", list, b.starts(p))
	}
	b.wantQuiet()
}

// No more than InFlight lines are unanswered at a worker.
func TestSubmitInFlight(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	file := filepath.Join(t.TempDir(), "go")
	var done []<-chan Response
	for range 3 * InFlight {
		done = append(done, submit(p, call("wait="+file)))
	}
	b.until("the worker to be full", func() bool {
		p.observers.mu.Lock()
		defer p.observers.mu.Unlock()
		return len(p.observers.workers) == 1 && len(p.observers.workers[0].calls) == InFlight && len(p.observers.waiting) == 2*InFlight
	})
	// A call that a sender waits for does not queue behind them.
	wantAnswer(t, b.ask(p, ""), "")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range done {
		wantAnswer(t, b.await(d), "")
	}
}

// Answers may come in any order.
func TestSubmitAnswersOutOfOrder(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	var done []<-chan Response
	for i := range 10 {
		do := "say=x hold"
		if i == 9 {
			do = "say=x"
		}
		done = append(done, submit(p, call(do)))
	}
	for _, d := range done {
		if a := b.await(d); a.Failure != "" || !strings.Contains(string(a.Body), `"said":"x"`) {
			t.Errorf("got %+v", a)
		}
	}
	b.wantQuiet()
}

// A lost answer is noticed although others come.
func TestSubmitLostAnswer(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	c := call("lose")
	c.Timeout = 300 * time.Millisecond
	lost := submit(p, c)
	wantAnswer(t, b.await(submit(p, call(""))), "")
	if a := b.await(lost); !a.TimedOut || a.Exit.Killed == "" || a.Duration < c.Timeout {
		t.Errorf("got %+v, want a timeout", a)
	}
}

// The deadline of a line counts from when those before it are answered: the time
// of many lines at once does not add up.
func TestSubmitClocksFollowEachOther(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	dir := t.TempDir()
	file := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	var done []<-chan Response
	for i := range 4 {
		done = append(done, submit(p, call("wait="+file(i))))
	}
	var before time.Time
	for i := range done {
		if err := os.WriteFile(file(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := b.await(done[i])
		wantAnswer(t, a, "")
		if a.Started.Before(before) {
			t.Errorf("line %d began %s before the answer to the one before it", i, before.Sub(a.Started))
		}
		before = a.Started.Add(a.Duration)
	}
}

// Only the line that crashes its worker fails.
func TestSubmitPoison(t *testing.T) {
	for _, do := range []string{"exit=1", `print={"event_id":`, "long=1200000", "close lose"} {
		t.Run(do, func(t *testing.T) {
			b := newBench(t, Options{})
			p := b.pool("lines", 0)
			wantAnswer(t, b.await(submit(p, call(""))), "")
			file := filepath.Join(t.TempDir(), "go")
			first := submit(p, call("wait="+file))
			var fine []<-chan Response
			for range 5 {
				fine = append(fine, submit(p, call("")))
			}
			bad := submit(p, call(do))
			for range 20 {
				fine = append(fine, submit(p, call("")))
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if a := b.await(bad); a.Failure == "" || a.TimedOut {
				t.Errorf("got %+v of the line that kills", a)
			}
			for _, d := range append(fine, first) {
				wantAnswer(t, b.await(d), "")
			}
			if got := b.starts(p); got != 3 {
				t.Errorf("got %d starts, want 3: it died twice", got)
			}
		})
	}
}

func TestSubmitTimeoutGivesTheOthersAgain(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	wantAnswer(t, b.await(submit(p, call(""))), "")
	c := call("note=stuck hang")
	c.Timeout = 200 * time.Millisecond
	hung := submit(p, c)
	var others []<-chan Response
	for range 10 {
		others = append(others, submit(p, call("")))
	}
	if a := b.await(hung); !a.TimedOut || a.Exit.Killed == "" || string(a.Stderr.Head) != "stuck\n" {
		t.Errorf("got %+v, want a timeout", a)
	}
	for _, d := range others {
		wantAnswer(t, b.await(d), "")
	}
	if got := b.starts(p); got != 2 {
		t.Errorf("got %d starts, want 2", got)
	}
}

// A hook that does not read blocks no caller, and its deadline ends it.
func TestSubmitReadsNothing(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("no-read", 0)
	var done []<-chan Response
	for range 2 * InFlight {
		c := call("")
		c.Timeout = 500 * time.Millisecond // of which its start takes a part
		c.Line = append([]byte(`{"pad":"`+strings.Repeat("x", 100<<10)), "\"}\n"...)
		done = append(done, submit(p, c)) // returns at once
	}
	p.observers.mu.Lock()
	for _, w := range p.observers.workers {
		if len(w.out) > 2*maxUnwritten {
			t.Errorf("%d bytes wait for a hook that does not read", len(w.out))
		}
	}
	p.observers.mu.Unlock()
	for _, d := range done {
		if a := b.await(d); a.Failure == "" && a.Stalled == "" {
			t.Errorf("got %+v", a)
		}
	}
	if got := b.starts(p); got > 4 {
		t.Errorf("started %d times for a hook that never answers", got)
	}
}

// A hook that keeps ending without an answer backs off, and its calls fail at once.
func TestSubmitBackOff(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("broken", 0)
	for i := range 5 {
		a := b.await(submit(p, call("")))
		if !strings.Contains(a.Failure, "exit status 9") || a.Exit.Code != 9 {
			t.Errorf("%d: got %+v", i, a)
		}
		if a.Stderr.Bytes == 0 {
			t.Errorf("%d: what it said of its death is lost", i)
		}
	}
	starts := b.starts(p)
	p.observers.mu.Lock()
	p.observers.backOffUntil = time.Now().Add(time.Hour)
	p.observers.mu.Unlock()
	for range 100 {
		if a := b.await(submit(p, call(""))); !strings.Contains(a.Failure, "not started again for a while") {
			t.Errorf("got %+v", a)
		}
	}
	if got := b.starts(p); got != starts {
		t.Errorf("started %d times during the back-off", got-starts)
	}
	// A call that a sender waits for is tried all the same.
	if a := b.ask(p, ""); a.Failure == "" || b.starts(p) != starts+2 {
		t.Errorf("got %+v after %d starts", a, b.starts(p)-starts)
	}
	p.observers.mu.Lock()
	p.observers.backOffUntil = time.Now()
	p.observers.mu.Unlock()
	b.await(submit(p, call("")))
	if got := b.starts(p); got != starts+3 {
		t.Errorf("started %d times after the back-off, want once", got-starts-2)
	}
}

func TestBackOffGrows(t *testing.T) {
	for n, most := range map[int]time.Duration{0: 150 * time.Millisecond, 3: 1200 * time.Millisecond, 100: 45 * time.Second} {
		for range 100 {
			if d := backoff(n); d < most/3 || d > most {
				t.Errorf("got %s for death %d too many, want up to %s", d, n, most)
			}
		}
	}
}

func TestSubmitOneShot(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	var done []<-chan Response
	for range 20 {
		done = append(done, submit(p, call("last=0")))
	}
	for _, d := range done {
		wantAnswer(t, b.await(d), "")
	}
}

func TestSubmitIdleEnd(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	for want := 1; want <= 3; want++ {
		wantAnswer(t, b.await(submit(p, call("last=0"))), "")
		b.until("its end", func() bool { return len(b.workers(p)) == 0 })
		if got := b.starts(p); got != want {
			t.Errorf("got %d starts, want %d", got, want)
		}
	}
	b.wantQuiet()
}

// As many calls run at once as there are workers, before any gets a second one.
func TestSubmitCopies(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 3)
	file := filepath.Join(t.TempDir(), "go")
	var done []<-chan Response
	for range 3 {
		done = append(done, submit(p, call("wait="+file)))
	}
	b.until("three workers at work", func() bool {
		p.observers.mu.Lock()
		defer p.observers.mu.Unlock()
		busy := 0
		for _, w := range p.observers.workers {
			busy += len(w.calls)
		}
		return len(p.observers.workers) == 3 && busy == 3 && len(p.observers.waiting) == 0
	})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pids := map[int]bool{}
	for _, d := range done {
		a := b.await(d)
		wantAnswer(t, a, "")
		pids[a.PID] = true
	}
	if len(pids) != 3 {
		t.Errorf("got %d processes, want 3", len(pids))
	}
}

// A call that is cancelled takes its worker with it, but no other call, however often.
func TestSubmitCancelled(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	var hanging []*Request
	var cancelled []<-chan Response
	for range deathsBeforeBackOff + 1 {
		c := call("hang")
		hanging, cancelled = append(hanging, c), append(cancelled, submit(p, c))
	}
	innocent := submit(p, call("say=hi"))
	for i, c := range hanging {
		b.until("the call to be cancelled", func() bool { return b.set.Cancel("lines", c.ID) })
		if a := b.await(cancelled[i]); a.Failure == "" || a.Err != nil {
			t.Errorf("got %+v", a)
		}
	}
	if a := b.await(innocent); a.Failure != "" || a.Err != nil || a.Body == nil {
		t.Errorf("the innocent call got %+v", a)
	}
	b.wantQuiet()
}

// A call that waits for room is cancelled without harm to any worker.
func TestSubmitCancelledBeforeItsTurn(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	file := filepath.Join(t.TempDir(), "go")
	var done []<-chan Response
	for range InFlight {
		done = append(done, submit(p, call("wait="+file)))
	}
	b.until("the worker to be full", func() bool { l := b.workers(p); return len(l) == 1 && l[0].Owes == InFlight })
	c := call("")
	late := submit(p, c)
	if !b.set.Cancel("lines", c.ID) || b.set.Cancel("lines", c.ID) {
		t.Error("the call that waits is not cancelled once")
	}
	if a := b.await(late); a.Failure != failCancelled || a.PID != 0 {
		t.Errorf("got %+v", a)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range done {
		if a := b.await(d); a.Failure != "" || a.Err != nil {
			t.Errorf("got %+v", a)
		}
	}
	if got := b.starts(p); got != 1 {
		t.Errorf("started %d times, want 1", got)
	}
	b.wantQuiet()
}
