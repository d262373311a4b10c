package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// verdictRounds is how often verdicts are measured with events for the fleet and without.
const verdictRounds = 3

// TestVerdictsBesideAFleet measures verdicts of one machine of a fleet by turns while nothing
// happens, while agents send 500 events a second that stay on their machines, and while these
// are for the fleet, and other machines and servers are killed. The machine and the agents
// have one processor, all others another one, as if they were elsewhere. It logs the figures
// of docs/reference/fleet.md.
func TestVerdictsBesideAFleet(t *testing.T) {
	if !*long {
		t.Skip("it measures for a minute, on a machine that does nothing else: run it with -long")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("it needs two processors")
	}
	stayOn(t, thisProcessor)
	var servers []*fleettest.Process
	var members []*member
	on(t, otherProcessor, func() {
		servers = fleettest.Cluster(t, 3)
		members, _ = newMembers(t, servers, inEnv)
	})
	guarded := members[0]
	guarded.kill()
	guarded.start()
	hooktest.Until(t, "the machine is back", func() bool { return guarded.client.Ready(t.Context()) == nil })
	hooktest.Write(t, filepath.Join(guarded.home, "hooks", "guard", "HOOK.yaml"),
		"name: guard\nevents: [pre_tool_use]\nmode: persistent\ncommand: "+guarded.makeGuard()+"\n", 0o644)
	_, err := guarded.client.Reload(t.Context())
	hooktest.Must(t, err)
	for range verdictRounds {
		alone := guarded.verdicts(t.Context())
		t.Logf("alone: %s", quantiles(alone))
		for _, local := range []bool{true, false} {
			ctx, end := context.WithCancel(t.Context())
			sent := sendEvents(ctx, members, local)
			kills := make(chan int, 1)
			if local {
				kills <- 0
			} else {
				go on(t, otherProcessor, func() { kills <- killInTurn(ctx, members[1:], servers) })
			}
			beside := guarded.verdicts(ctx)
			end()
			t.Logf("beside %d events, local %t, and %d kills: %s", len(sent()), local, <-kills, quantiles(beside))
		}
	}
}

// Processors of the test.
const (
	thisProcessor = iota
	otherProcessor
)

// stayOn keeps this process, and its children, on one processor until the test ends.
func stayOn(t *testing.T, processor int) {
	t.Helper()
	var before unix.CPUSet
	hooktest.Must(t, unix.SchedGetaffinity(0, &before))
	threads := func(set *unix.CPUSet) {
		list, err := os.ReadDir("/proc/self/task")
		hooktest.Must(t, err)
		for _, thread := range list {
			id, _ := strconv.Atoi(thread.Name())
			_ = unix.SchedSetaffinity(id, set) // an ended one is not there
		}
	}
	only := unix.CPUSet{}
	only.Set(processor)
	threads(&only)
	t.Cleanup(func() { threads(&before) })
}

// on calls start, which starts processes that stay on another processor.
func on(t *testing.T, processor int, start func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	only.Set(processor)
	if err := errors.Join(unix.SchedGetaffinity(0, &before), unix.SchedSetaffinity(0, &only)); err != nil {
		t.Error(err)
	}
	start()
	_ = unix.SchedSetaffinity(0, &before)
}

// makeGuard puts a guard in place that has no opinion, and returns its path.
func (m *member) makeGuard() string {
	guard := filepath.Join(m.home, "guard.sh")
	hooktest.Write(m.t, guard, "#!/bin/sh\nwhile read -r line; do id=${line##*'\"event_id\":\"'}; echo \"{\\\"event_id\\\":\\\"${id%%'\"'*}\\\"}\"; done\n", 0o755)
	return guard
}

// verdicts returns how long verdicts took, of a thousand that are 10 ms apart, shortest first.
func (m *member) verdicts(ctx context.Context) (took []time.Duration) {
	m.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		<-tick.C
		begun := time.Now()
		v, err := m.client.Decide(ctx, client.Event{Event: "pre_tool_use", SessionID: "v", Data: []byte(`{"tool_name":"shell","tool_input":{"cmd":"ls"}}`)})
		if err != nil || !v.Allowed {
			m.t.Fatalf("got %+v, %v", v, err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took
}

// quantiles returns some quantiles of the sorted times.
func quantiles(sorted []time.Duration) string {
	at := func(q float64) time.Duration {
		return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s p99 %s of %d", at(0.5), at(0.99), len(sorted))
}
