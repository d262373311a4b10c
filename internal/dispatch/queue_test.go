package dispatch

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
)

// Each task runs once and no more at once than there are slots, whether the goroutine of
// one goes on with the next, or another one frees its slot, before or after it comes back.
func TestRunsFollowEachOther(t *testing.T) {
	const slots, tasks = 2, 300
	rules := &neutral.Rules{Conversation: func(*events.Event) string { return "" }}
	var ran, running, most atomic.Int64
	var all, held sync.WaitGroup
	all.Add(tasks)
	back := make(chan struct{})
	q := newQueue(slots, tasks, 1<<20, func(task *task, _ func() bool, ended func(late bool)) {
		now := running.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		n := ran.Add(1)
		late := n%3 > 0
		over := func() {
			running.Add(-1)
			ended(late)
			all.Done()
		}
		if !late {
			over()
			return
		}
		if n%3 == 1 {
			held.Add(1)
			defer held.Done()
			defer func() { <-back }()
		}
		go over()
	})
	for range tasks {
		e := &events.Event{}
		if !q.reserve(e, 1) {
			t.Fatal("the queue has no room")
		}
		q.push([]*task{{event: e, match: match.Match{Rules: rules, Hook: &hook.Hook{Order: hook.OrderParallel}}}})
	}
	all.Wait()
	close(back)
	held.Wait()
	queued, left, _, under := q.load()
	if ran.Load() != tasks || most.Load() > slots || queued+left+under != 0 {
		t.Errorf("%d of %d ran, %d at once; %d queued, %d events and %d running at the end",
			ran.Load(), tasks, most.Load(), queued, left, under)
	}
}
