package dispatch

import (
	"testing"
	"testing/synctest"
	"time"
)

// A hook may send an event before the call that started it has returned: its
// run is waited for, and only by senders that may be of that run.
func TestSenderWhoseStartIsUnderWay(t *testing.T) {
	child := func(is bool) func() bool { return func() bool { return is } }
	for _, tt := range []struct {
		name   string
		sender Sender
		waits  bool
		want   Origin
	}{
		{"hook", Sender{Session: 10, Group: 10, Child: child(true)}, true, Origin{Depth: 4, Hook: "h"}},
		{"in its cgroup", Sender{Session: 60, Group: 60, Cgroup: "/run", Child: child(false)}, true, Origin{Depth: 4, Hook: "h"}},
		{"agent", Sender{Session: 1, Group: 1, Child: child(false)}, false, Origin{}},
		{"hook of another run", Sender{Session: 5, Group: 5, Child: child(true)}, false, Origin{Depth: 1, Hook: "known"}},
		{"gone", Sender{Gone: true}, false, Origin{Depth: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChain(nil)
				c.started(Process{PID: 5}, 0, "known")
				known := c.starting(3)
				got := make(chan Origin, 1)
				go func() { got <- c.origin(tt.sender, time.Now()) }()
				synctest.Wait()
				if waits := len(got) == 0; waits != tt.waits {
					t.Errorf("it waits: %v, want %v", waits, tt.waits)
				}
				c.started(Process{PID: 10, Cgroup: "/run"}, 3, "h")
				known()
				known()
				if o := <-got; o != tt.want {
					t.Errorf("got %+v, want %+v", o, tt.want)
				}
			})
		})
	}
}

// A start that hangs holds up no other for ever, and a sender of which
// nothing becomes known counts as the deepest.
func TestStartsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(nil)
		defer c.starting(5)()
		ours := func() bool { return true }
		begin := time.Now()
		known := c.starting(1)
		got := make(chan Origin, 2)
		go func() { got <- c.origin(Sender{Session: 10, Group: 10, Child: ours}, begin) }()
		go func() { got <- c.origin(Sender{Session: 11, Group: 11, Child: ours}, begin) }()
		synctest.Wait()
		c.started(Process{PID: 10}, 1, "h")
		known()
		if o := <-got; o != (Origin{Depth: 2, Hook: "h"}) || time.Since(begin) != 0 {
			t.Errorf("got %+v after %s, want depth 2 at once", o, time.Since(begin))
		}
		if o := <-got; o != (Origin{Depth: 6}) || time.Since(begin) != startWait {
			t.Errorf("got %+v after %s, want depth 6 after %s", o, time.Since(begin), startWait)
		}
	})
}
