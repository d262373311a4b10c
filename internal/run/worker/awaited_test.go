package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/proc"
)

func TestAskKeepsItsProcess(t *testing.T) {
	t.Setenv("HOOK_EVENT", "")
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	if got := b.workers(p); got != nil {
		t.Errorf("got %+v before the first event", got)
	}
	var pid int
	for i := range 20 {
		a := b.ask(p, "say=hi")
		if pid == 0 {
			pid = a.PID
		}
		wantAnswer(t, a, fmt.Sprintf(`{"said":"hi","pid":%d,"env":""}`, pid))
		if got := b.workers(p); len(got) != 1 || got[0].PID != pid || got[0].Answered != uint64(i+1) || got[0].Slots != "decidable" {
			t.Errorf("got workers %+v after %d answers of %d", got, i+1, pid)
		}
	}
	wantAnswer(t, b.ask(p, ""), "")
	if got := b.starts(p); got != 1 {
		t.Errorf("started %d times", got)
	}
	b.wantQuiet()
}

func TestAskTakesStderrOfTheRun(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	for _, word := range []string{"one", "two"} {
		if a := b.ask(p, "note="+word); string(a.Stderr.Head) != word+"\n" {
			t.Errorf("got stderr %q, want %s", a.Stderr.Head, word)
		}
	}
	if a := b.ask(p, ""); a.Stderr.Bytes != 0 {
		t.Errorf("got stderr %q of a quiet run", a.Stderr.Head)
	}
}

func TestAskOddOutput(t *testing.T) {
	for _, c := range []struct {
		name, do string
		warning  []string
	}{
		{"text", "print=hello~there", []string{"print it to stderr"}},
		{"blank", "print=", nil},
		{"unknown-id", `print={"event_id":"other"}`, []string{"other"}},
		{"twice", "twice", nil}, // seen with the next one
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Options{})
			p := b.pool("lines", 0)
			wantAnswer(t, b.ask(p, c.do), "")
			wantAnswer(t, b.ask(p, ""), "")
			if c.name == "twice" {
				c.warning = []string{"answered before"}
			}
			if c.warning != nil {
				b.wantWarning(c.warning...)
			} else {
				b.wantQuiet()
			}
			if got := b.starts(p); got != 1 {
				t.Errorf("started %d times, want 1", got)
			}
		})
	}
}

func TestAskGarbage(t *testing.T) {
	for _, c := range []struct{ name, do, failure string }{
		{"broken-json", `print={"event_id":`, "is not JSON"},
		{"no-id", `print={"allowed":true}`, "without an event_id"},
		{"id-no-string", `print={"event_id":7}`, "without an event_id"},
		{"two-objects", `print={"event_id":"a"}{}`, "is not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Options{})
			p := b.pool("lines", 0)
			a := b.ask(p, c.do)
			if !strings.Contains(a.Failure, c.failure) || a.Exit.Killed == "" {
				t.Errorf("got %+v, want a failure with %s", a, c.failure)
			}
			if got := b.starts(p); got != 2 {
				t.Errorf("sent to %d workers, want 2", got)
			}
			b.until("the warning", func() bool { return len(b.warnings()) == 2 })
			b.wantWarning("cannot be trusted", c.failure)
			wantAnswer(t, b.ask(p, ""), "")
		})
	}
}

func TestAskLongAnswers(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	if a := b.ask(p, "long=1000000"); len(a.Body) < 1000000 {
		t.Errorf("got %d bytes, failure %q", len(a.Body), a.Failure)
	}
	if a := b.ask(p, "long=1100000"); !a.Exceeded || a.Failure == "" {
		t.Errorf("got %d bytes, exceeded %v, want too many", len(a.Body), a.Exceeded)
	}
	if got := b.starts(p); got != 1 {
		t.Errorf("a too long answer was asked for again: %d starts", got)
	}
	c := call("long=3000000")
	c.Limit = 4 << 20
	if a := p.Ask(t.Context(), c); len(a.Body) < 3000000 {
		t.Errorf("got %d bytes, failure %q, want 3,000,000", len(a.Body), a.Failure)
	}
}

func TestAskGivesAgainOnce(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	wantAnswer(t, b.ask(p, "once="+filepath.Join(t.TempDir(), "x")), "")
	if got := b.starts(p); got != 2 {
		t.Errorf("started %d times, want 2", got)
	}
	a := b.ask(p, "note=why exit=3")
	if a.Failure != "its process ended with exit status 3 before it answered" || a.Exit.Code != 3 || string(a.Stderr.Head) != "why\n" {
		t.Errorf("got %+v, stderr %q", a, a.Stderr.Head)
	}
	if got := b.starts(p); got != 3 {
		t.Errorf("started %d times, want 3: one lived, and one more", got)
	}
	b.until("the warnings", func() bool { return len(b.warnings()) == 3 })
	b.wantWarning("persistent hook ended", "exit:3", "unanswered:1")
}

// It answers once and exits, as a script without a loop does.
func TestAskOneShot(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	for range 5 {
		wantAnswer(t, b.ask(p, "last=0"), "")
	}
}

func TestAskDeadline(t *testing.T) {
	for _, do := range []string{"hang", "lose", "grandchild=mark hang"} {
		t.Run(do, func(t *testing.T) {
			b := newBench(t, Options{})
			p := b.pool("lines", 0)
			wantAnswer(t, b.ask(p, ""), "")
			c := call(do)
			c.Timeout = 100 * time.Millisecond
			a := p.Ask(t.Context(), c)
			if !a.TimedOut || a.Exit.Killed == "" || a.Exit.Left != 0 {
				t.Errorf("got %+v, want a timeout and a kill", a)
			}
			if got := b.starts(p); got != 1 {
				t.Errorf("a line that missed its deadline was sent again")
			}
			wantAnswer(t, b.ask(p, ""), "")
		})
	}
}

func TestAskReadsNothing(t *testing.T) {
	b := newBench(t, Options{})
	c := call("")
	c.Timeout = 200 * time.Millisecond
	c.Line = append([]byte(`{"pad":"`+strings.Repeat("x", 1<<20)), "\"}\n"...)
	if a := b.pool("no-read", 0).Ask(t.Context(), c); !a.TimedOut {
		t.Errorf("got %+v, want a timeout", a)
	}
}

func TestAskNoStart(t *testing.T) {
	b := newBench(t, Options{})
	p := b.set.Pool(Key{ID: "none"}, func() Startup {
		return Startup{Start: func(func(string)) (Start, error) { return Start{Spec: proc.Spec{Path: "/nowhere/x"}}, nil }}
	})
	if a := b.ask(p, ""); a.Err == nil || !strings.Contains(a.Err.Error(), "/nowhere/x") {
		t.Errorf("got %+v, want the start's error", a)
	}
	if a := b.await(submit(p, call(""))); a.Err == nil {
		t.Errorf("got %+v, want the start's error", a)
	}
}

// A start that hangs delays no call beyond its deadline, and other calls fail at
// once until that start has ended.
func TestAskStuckStart(t *testing.T) {
	b := newBench(t, Options{})
	working := b.pool("lines", 0)
	release := make(chan struct{})
	p := b.set.Pool(Key{ID: "stuck"}, func() Startup {
		return Startup{Start: func(func(string)) (Start, error) { <-release; return working.hook.Start(func(string) {}) }}
	})
	c := call("")
	c.Timeout = 20 * time.Millisecond
	if a := p.Ask(t.Context(), c); !a.TimedOut || !strings.Contains(a.Stalled, "did not start in time") {
		t.Errorf("got %+v, want a timeout", a)
	}
	if a := p.Ask(t.Context(), call("")); a.Err == nil || !strings.Contains(a.Err.Error(), "still waits") {
		t.Errorf("got %+v, want an error at once", a)
	}
	if a := b.await(submit(p, call(""))); a.Err == nil || !strings.Contains(a.Err.Error(), "still waits") {
		t.Errorf("an observer got %+v, want an error at once", a)
	}
	close(release)
	b.until("the start comes back", func() bool { return p.overdueStart() == nil })
	wantAnswer(t, b.ask(p, ""), "")
	if got := b.starts(p); got != 1 {
		t.Errorf("got %d starts, want the one that was late", got)
	}
}

// One line at a time per worker, as many at once as there are workers.
func TestAskConcurrency(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 3)
	file := filepath.Join(t.TempDir(), "go")
	var answers sync.WaitGroup
	pids := make(chan int, 6)
	for range 6 {
		c := call("wait=" + file)
		answers.Go(func() { pids <- p.Ask(t.Context(), c).PID })
	}
	b.until("three workers", func() bool { return len(b.workers(p)) == 3 })
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answers.Wait()
	close(pids)
	seen := map[int]bool{}
	for pid := range pids {
		seen[pid] = true
	}
	if len(seen) != 3 || b.starts(p) != 3 {
		t.Errorf("got %d processes, %d starts, want 3", len(seen), b.starts(p))
	}
}

func TestAskFullUntilTheDeadline(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 1)
	file := filepath.Join(t.TempDir(), "go")
	first := make(chan Response, 1)
	c := call("wait=" + file)
	go func() { first <- p.Ask(t.Context(), c) }()
	b.until("a worker", func() bool { return len(b.workers(p)) == 1 })
	b.until("it to be busy", func() bool {
		p.awaited.mu.Lock()
		defer p.awaited.mu.Unlock()
		return len(p.awaited.idle) == 0 && len(p.awaited.slots[0]) == 1
	})
	late := call("")
	late.Timeout = 50 * time.Millisecond
	if a := p.Ask(t.Context(), late); !strings.Contains(a.Failure, "no worker was free") {
		t.Errorf("got %+v", a)
	}
	// A hook that calls itself gets another worker.
	deep := call("")
	deep.Depth = 1
	wantAnswer(t, p.Ask(t.Context(), deep), "")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, b.await(first), "")
	b.until("the worker too many to end", func() bool { return len(b.workers(p)) == 1 })
	b.wantQuiet()
}

func TestAskIdleEnd(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	for want := 1; want <= 3; want++ {
		wantAnswer(t, b.ask(p, "last=0"), "")
		b.until("its end", func() bool { return len(b.workers(p)) == 0 })
		if got := b.starts(p); got != want {
			t.Errorf("got %d starts, want %d", got, want)
		}
	}
	b.wantQuiet()
	wantAnswer(t, b.ask(p, "last=4"), "")
	b.until("its end", func() bool { return len(b.workers(p)) == 0 })
	b.wantWarning("persistent hook ended", "exit:4", "unanswered:0")
}

func TestAskKilled(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Response, 1)
	c := call("hang")
	go func() { done <- p.Ask(ctx, c) }()
	b.until("a worker", func() bool { return len(b.workers(p)) == 1 })
	cancel()
	b.set.Kill()
	// The worker may be killed before it was given the call.
	if a := b.await(done); a.Failure == "" && !errors.Is(a.Err, errClosed) || a.TimedOut {
		t.Errorf("got %+v, want a failure, or no start", a)
	}
	if a := b.ask(p, ""); a.Err == nil {
		t.Errorf("got %+v after the kill, want no start", a)
	}
}

// Starting is called before there is a process; known after Joined, or when the
// start has failed.
func TestStarting(t *testing.T) {
	var steps []string
	step := func(s string) { steps = append(steps, s) }
	b := newBench(t, Options{
		Starting: func() func() { step("starting"); return func() { step("known") } },
		Joined:   func(string, proc.Process, func() int) func() { step("joined"); return func() {} },
	})
	if a := b.ask(b.pool("lines", 0), ""); a.Failure != "" || a.Err != nil {
		t.Fatalf("got %+v", a)
	}
	if a := b.ask(b.set.Pool(Key{ID: "absent"}, func() Startup {
		return Startup{Name: "absent", Start: func(func(string)) (Start, error) { return Start{Spec: proc.Spec{Path: "/absent"}}, nil }}
	}), ""); a.Err == nil {
		t.Fatalf("got %+v from a program that is not there", a)
	}
	if got, want := fmt.Sprint(steps), "[starting joined known starting known]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Workers are known to Joined for as long as they live, with the depth of their
// events.
func TestJoined(t *testing.T) {
	type joined struct {
		proc.Process
		depth func() int
	}
	known := make(chan joined, 8)
	left := make(chan int, 8)
	b := newBench(t, Options{Joined: func(id string, p proc.Process, depth func() int) func() {
		if id != "lines" {
			t.Errorf("got hook %q", id)
		}
		known <- joined{p, depth}
		return func() { left <- p.PID }
	}})
	p := b.pool("lines", 0)
	c := call("")
	c.Depth = 3
	a := p.Ask(t.Context(), c)
	j := <-known
	if j.PID != a.PID || j.depth() != 3 {
		t.Errorf("got pid %d depth %d, want %d and 3", j.PID, j.depth(), a.PID)
	}
	c = call("")
	c.Depth = 2
	a = b.await(submit(p, c))
	j = <-known
	if j.PID != a.PID || j.depth() != 2 {
		t.Errorf("got pid %d depth %d, want %d and 2", j.PID, j.depth(), a.PID)
	}
	b.set.Kill()
	<-left
	<-left
}

// A start that hangs delays observers no longer than their deadline.
func TestSubmitStuckStart(t *testing.T) {
	b := newBench(t, Options{})
	working := b.pool("lines", 0)
	release := make(chan struct{})
	p := b.set.Pool(Key{ID: "stuck"}, func() Startup {
		return Startup{Start: func(looks func(string)) (Start, error) {
			looks("/mnt/dead")
			<-release
			return working.hook.Start(func(string) {})
		}}
	})
	first, second := call(""), call("")
	first.Timeout = 20 * time.Millisecond
	one, two := submit(p, first), submit(p, second)
	for _, done := range []<-chan Response{one, two} {
		if a := b.await(done); !a.TimedOut || !strings.Contains(a.Stalled, `"/mnt/dead" did not answer`) {
			t.Errorf("got %+v, want a timeout that names the file", a)
		}
	}
	close(release)
	b.until("the start comes back", func() bool { return p.overdueStart() == nil })
	if a := b.await(submit(p, call(""))); a.Err != nil || a.TimedOut {
		t.Errorf("got %+v, want an answer", a)
	}
}

// The end of its context ends a call with its worker. Other calls have other contexts, and go on.
func TestAskUntilItsContextEnds(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 2)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan Response, 1)
	go func() { ended <- p.Ask(ctx, call("hang")) }()
	b.until("the worker to have the call", func() bool { l := b.workers(p); return len(l) == 1 && l[0].Owes == 1 })
	if a := p.Ask(t.Context(), call("say=hi")); a.Err != nil || a.Failure != "" {
		t.Fatalf("the call beside it: %+v", a)
	}
	end()
	if a := b.await(ended); a.Failure == "" || a.TimedOut || a.Exit.Killed == "" {
		t.Errorf("got %+v, want a call that failed with its worker", a)
	}
	if a := p.Ask(t.Context(), call("say=hi")); a.Err != nil || a.Failure != "" {
		t.Errorf("a later call: %+v", a)
	}
	b.until("no more than one worker is left", func() bool { return len(b.workers(p)) <= 1 })
}

// A call that is cancelled ends as at its deadline, with its worker; a call that waits for
// a worker costs none.
func TestAskCancelled(t *testing.T) {
	b := newBench(t, Options{})
	p := b.pool("lines", 0)
	ask := func(c *Request) <-chan Response {
		done := make(chan Response, 1)
		go func() { done <- p.Ask(t.Context(), c) }()
		return done
	}
	hangs, waits := call("hang"), call("say=hi")
	first := ask(hangs)
	b.until("the worker to have the call", func() bool { l := b.workers(p); return len(l) == 1 && l[0].Owes == 1 })
	second := ask(waits)
	b.until("the second to be cancelled", func() bool { return b.set.Cancel("lines", waits.ID) })
	if a := b.await(second); a.Failure != failCancelled || a.Err != nil || a.TimedOut {
		t.Errorf("got %+v", a)
	}
	if b.set.Cancel("lines", "01NONE") || b.set.Cancel("other", hangs.ID) {
		t.Error("a call was cancelled that is not there")
	}
	if !b.set.Cancel("lines", hangs.ID) {
		t.Error("the call was not found")
	}
	if a := b.await(first); !a.TimedOut || a.Exit.Killed == "" || a.Failure == "" {
		t.Errorf("got %+v", a)
	}
	wantAnswer(t, b.ask(p, ""), "")
	if got := b.starts(p); got != 2 {
		t.Errorf("started %d times, want 2", got)
	}
	if b.set.Cancel("lines", hangs.ID) {
		t.Error("a call was cancelled that has ended")
	}
	b.wantQuiet()
}
