package proc

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestDeadlineKillsEverything(t *testing.T) {
	tests := []struct{ name, script string }{
		{"alone", "echo ready; exec sleep 300"},
		{"children", "sleep 300 & sleep 300 & echo ready; wait"},
		{"stopped", "sleep 300 & kill -STOP $!; echo ready; kill -STOP $$"},
		{"ignores-term", "trap '' TERM INT HUP; sleep 300 & echo ready; wait"},
		{"own-group", "set -m; sleep 300 & sleep 300 & echo ready; wait"},
		{"setsid", "sleep 300 & setsid sleep 300 & echo ready; wait"},
		{"two-generations", "setsid sh -c 'setsid sh -c \"sleep 300 & sleep 300\" & wait' & echo ready; wait"},
		{"orphan", "setsid -f sleep 300; echo ready; sleep 300"},
		{"orphans-with-stdin-only", "for i in 1 2 3; do setsid -f sleep 300 >/dev/null 2>&1; done; echo ready; sleep 300"},
		{"leader-of-none", "(sleep 300 & sleep 300 &) ; echo ready; sleep 300"},
	}
	allRunners(t, func(t *testing.T, r *Runner) {
		specs, exits := make([]Spec, len(tests)), make([]Exit, len(tests))
		var runs sync.WaitGroup
		for i, c := range tests { // all at once: each waits for its deadline
			specs[i] = shell(t, c.script)
			specs[i].Timeout = 3 * time.Second
			runs.Go(func() { exits[i] = r.Run(context.Background(), specs[i]) })
		}
		runs.Wait()
		for i, c := range tests {
			t.Run(c.name, func(t *testing.T) {
				s, e := specs[i], exits[i]
				wantKilled(t, r, s, e)
				if !e.TimedOut || e.Duration < s.Timeout {
					t.Errorf("got timed out %v after %v, want true after %v", e.TimedOut, e.Duration, s.Timeout)
				}
				if got := all(e.Stdout); got != "ready\n" {
					t.Errorf("got stdout %q: it was not ready when it was killed", got)
				}
			})
		}
	})
}

// wantKilled wants a run that was killed, and no process left.
func wantKilled(t *testing.T, r *Runner, s Spec, e Exit) {
	t.Helper()
	how := "tree"
	if r.Cgroup() != "" {
		how = "cgroup"
	}
	if e.Killed != how || e.Code != -1 || e.Signal != "SIGKILL" || e.Left != 0 || e.Err != nil {
		t.Errorf("got killed %q code %d signal %q left %d err %v, want %q -1 SIGKILL 0", e.Killed, e.Code, e.Signal, e.Left, e.Err, how)
	}
	if pids := survivors(t, mark(s)); len(pids) > 0 {
		t.Errorf("%v survived", pids)
	}
}

// survivors lists the living processes that have the variable.
func survivors(t *testing.T, variable string) (pids []int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc to look for survivors")
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, v := range strings.Split(string(b), "\x00") {
			if pid, err := strconv.Atoi(strings.Split(f, "/")[2]); err == nil && v == variable {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func TestContextKills(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, "sleep 300 & setsid sleep 300 & touch ready; wait")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			hooktest.Until(t, "the children", func() bool { return exists(filepath.Join(s.Dir, "ready")) })
		}()
		e := r.Run(ctx, s)
		wantKilled(t, r, s, e)
		if e.TimedOut || e.Terminated {
			t.Errorf("got %+v, want no deadline in it", e)
		}
	})
}

func TestTermBefore(t *testing.T) {
	r := newRunner(t, Options{})
	for _, c := range []struct{ name, script, out string }{
		{"cleans-up", `trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.01; done`, "ready\ncleaned\n"},
		{"wakes-the-stopped", `trap 'exit 7' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done`, "ready\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := shell(t, c.script)
			s.Timeout, s.TermBefore = time.Minute, 56*time.Second
			e := r.Run(context.Background(), s)
			if e.Code != 7 || all(e.Stdout) != c.out || !e.Terminated || e.TimedOut || e.Killed != "" {
				t.Errorf("got %+v, want code 7 and %q", e, c.out)
			}
		})
	}
}

func TestTermBeforeThenKill(t *testing.T) {
	r := newRunner(t, Options{})
	for _, c := range []struct {
		name       string
		before     time.Duration
		terminated bool
	}{{"ignored-term", time.Second, true}, {"longer-than-timeout", 3 * time.Second, false}, {"negative", -1, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := shell(t, `trap '' TERM; sleep 300 & wait; wait; sleep 300`)
			s.Timeout, s.TermBefore = 2*time.Second, c.before
			e := r.Run(context.Background(), s)
			wantKilled(t, r, s, e)
			if e.Terminated != c.terminated || !e.TimedOut {
				t.Errorf("got terminated %v timed out %v, want %v true", e.Terminated, e.TimedOut, c.terminated)
			}
		})
	}
}

func TestEndlessWriter(t *testing.T) {
	allRunners(t, func(t *testing.T, r *Runner) {
		s := helper(t, "endless")
		s.Timeout, s.Whole = time.Second, 1000
		e := r.Run(t.Context(), s)
		if !e.TimedOut || e.Killed == "" || !e.WholeExceeded || len(e.Whole) != 1000 {
			t.Errorf("got timed out %v killed %q exceeded %v with %d bytes", e.TimedOut, e.Killed, e.WholeExceeded, len(e.Whole))
		}
		for _, o := range []Output{e.Stdout, e.Stderr} {
			if len(o.Head) != HeadBytes || len(o.Tail) != TailBytes || o.Bytes <= HeadBytes+TailBytes {
				t.Errorf("got %d+%d of %d bytes, want %d+%d", len(o.Head), len(o.Tail), o.Bytes, HeadBytes, TailBytes)
			}
		}
	})
}

func TestStormOfOrphans(t *testing.T) {
	// Each link of the chain leaves its session and its parent, and starts the next.
	chain := `cat > chain <<'X'
#!/bin/sh
exec setsid -f sh ./chain
X
for i in 1 2 3; do setsid -f sh ./chain; done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do setsid -f sleep 300; done
touch ready; sleep 300`
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, chain)
		t.Cleanup(func() { killAll(t, mark(s)) })
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			hooktest.Until(t, "the storm", func() bool { return exists(filepath.Join(s.Dir, "ready")) })
		}()
		e := r.Run(ctx, s)
		if e.Killed == "" {
			t.Fatalf("got %+v, want a kill", e)
		}
		if pids := survivors(t, mark(s)); len(pids) > 0 && e.Left == 0 {
			t.Errorf("%v survived and were not counted", pids)
		} else if len(pids) > 0 && r.Cgroup() != "" {
			t.Errorf("%v survived their cgroup", pids)
		}
	})
}

// killAll ends the processes that a test has left behind.
func killAll(t *testing.T, variable string) {
	hooktest.Until(t, "the survivors to die", func() bool {
		pids := survivors(t, variable)
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		return len(pids) == 0
	})
}
