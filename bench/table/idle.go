package main

import (
	"fmt"
	"os"
	"time"
)

const (
	settleTime = 3 * time.Second  // for a start to end
	rest       = 75 * time.Second // and for what it leaves to do later: merge the log, prune history
	idleTime   = time.Minute
	idleHooks  = 100
)

// idle leaves a daemon with some hooks alone for a minute, once it is at rest.
func idle(b *bench) ([]row, error) {
	d, err := b.start(mixed(idleHooks))
	if err != nil {
		return nil, err
	}
	defer d.stop()
	pid := d.pid()
	time.Sleep(rest)
	before, err := usageOf(pid)
	if err != nil {
		return nil, err
	}
	time.Sleep(idleTime)
	after, err := usageOf(pid)
	if err != nil {
		return nil, err
	}
	return []row{
		{
			what:   fmt.Sprintf("idle with %d hooks, no subscribers, from %v after the start: wakeups a minute (context switches of all threads)", idleHooks, rest),
			checks: []check{atMost("≤ 3", 3, float64(after.switches-before.switches), "%.0f")},
			beside: fmt.Sprintf("%s of processor time", (after.cpu - before.cpu).Round(time.Microsecond)),
		},
		{
			what:   fmt.Sprintf("resident memory with %d hooks", idleHooks),
			checks: []check{atMost("≤ 30 MiB", 30, mib(after.rss), "%.1f MiB")},
		},
	}, nil
}

func binarySize(b *bench) ([]row, error) {
	var sizes []float64
	for _, path := range []string{b.hookd, b.bridge} {
		fi, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, mib(fi.Size()))
	}
	return []row{{
		what: "binary, stripped",
		checks: []check{
			atMost("hookd ≤ 28 MiB", 28, sizes[0], "%.1f MiB"),
			atMost("with hookd-bridge, all that `hookd init` needs, ≤ 34 MiB", 34, sizes[0]+sizes[1], "%.1f MiB"),
		},
		beside: fmt.Sprintf("hookd-bridge %.1f MiB", sizes[1]),
	}}, nil
}
