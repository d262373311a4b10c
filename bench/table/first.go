package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/docs/gallery"
)

const (
	firstHooks = 100         // the guards among them
	nextCalls  = 20          // whose median a first call is held against
	still      = time.Minute // without a call
)

// firstGuards are the guards that `hookd init` adds.
var firstGuards = []string{"command-guard", "secret-guard", "self-guard"}

// firstCalls are the calls that find hookd cold: the first after its start, and the first after a minute
// without one; and the time from its start to a verdict.
func firstCalls(b *bench) ([]row, error) {
	d, err := b.home(mixed(firstHooks - len(firstGuards)))
	if err != nil {
		return nil, err
	}
	for _, name := range firstGuards {
		if err := gallery.Copy(name, filepath.Join(d.home, "hooks", name)); err != nil {
			return nil, err
		}
	}
	stdin := filepath.Join(b.dir, "first.json")
	if err := os.WriteFile(stdin, []byte(toolCall("go test ./... 2>&1 | tail -20")), 0o600); err != nil {
		return nil, err
	}
	call := process("bridge", d, stdin, b.bridge, "claude-code").run
	if err := b.serve(d, nil); err != nil { // for the first time: it makes its files
		return nil, err
	}
	defer func() { d.stop() }()
	ask, _ := turns("first", 1)
	var starts, firsts, nexts []float64
	for range b.rounds {
		d.halt()
		begin := time.Now()
		if err := b.serve(d, nil); err != nil {
			return nil, err
		}
		a, err := d.asking(ask)
		if err != nil {
			return nil, err
		}
		_, err = a.ask(`"ok":true`)
		starts = append(starts, float64(time.Since(begin).Microseconds())/1000)
		a.conn.Close()
		if err != nil {
			return nil, err
		}
		d.halt()
		if err := b.serve(d, nil); err != nil {
			return nil, err
		}
		first, next, err := firstAndNext(call)
		if err != nil {
			return nil, err
		}
		firsts, nexts = append(firsts, first), append(nexts, next)
	}
	time.Sleep(still)
	cold, after, err := firstAndNext(call)
	if err != nil {
		return nil, err
	}
	first, next := quantile(firsts, 0.5), quantile(nexts, 0.5)
	return []row{
		{
			what:   fmt.Sprintf("start of the daemon to its first verdict, %d hooks, the three guards of init among them", firstHooks),
			checks: []check{atMost("≤ 60 ms", 60, quantile(starts, 0.5), "%.0f ms")},
		},
		{
			what: "first PreToolUse through the bridge after a start",
			checks: []check{
				atMost("≤ 3 ms", 3, first, "%.2f ms"), atMost("≤ 2 × the next", 2, first/next, "%.2f ×"),
			},
			beside: fmt.Sprintf("the next %d: p50 %.2f ms", nextCalls, next),
		},
		{
			what: fmt.Sprintf("the same after %v without a call", still),
			checks: []check{
				atMost("≤ 3 ms", 3, cold, "%.2f ms"), atMost("≤ 2 × the next", 2, cold/after, "%.2f ×"),
			},
			beside: fmt.Sprintf("the next %d: p50 %.2f ms; one call, not a median", nextCalls, after),
		},
	}, nil
}

// firstAndNext takes a call, and the median of those right after it: ms.
func firstAndNext(call func() (float64, error)) (first, next float64, err error) {
	if first, err = call(); err != nil {
		return 0, 0, err
	}
	var list []float64
	for range nextCalls {
		ms, err := call()
		if err != nil {
			return 0, 0, err
		}
		list = append(list, ms)
	}
	return first, quantile(list, 0.5), nil
}
