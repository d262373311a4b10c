package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const durableConns = 64

// durableAccepts measures events that have a hook, and so are on disk before
// their answer. The hook runs one at a time and sleeps, so that accepting is
// all there is to do.
func durableAccepts(b *bench) ([]row, error) {
	d, err := b.start(hooks{"sleeper": "name: sleeper\nevents: [\"bench:kept\"]\ntype: script\nscript: exec sleep 60\ntimeout: 1m\norder: serial\n"})
	if err != nil {
		return nil, err
	}
	defer d.kill()
	if _, err := os.Stat(filepath.Join(d.home, "hookd.db")); err != nil {
		return nil, missing{"this hookd keeps no database"}
	}
	event := line("bench:kept", "", "", 1024)
	var mu sync.Mutex
	var took []float64
	s, err := contest(b.rounds, []contender{{"hookd", func() (float64, error) {
		return b.perConnection(d, durableConns, event, func(v []float64) {
			mu.Lock()
			defer mu.Unlock()
			took = append(took, v...)
		})
	}}})
	if err != nil {
		return nil, err
	}
	return []row{{
		what: fmt.Sprintf("durable accepts per second, fsync, %d connections, 1 KiB", durableConns),
		checks: []check{
			atLeast("≥ 30,000", 30_000, s.median("hookd"), "%.0f"),
			atMost("p99 ≤ 5 ms", 5000, quantile(took, 0.99), "%.0f µs"),
		},
		beside: fmt.Sprintf("p50 %.0f µs; the store alone and a bare log: go test -bench . ./store, in bench", quantile(took, 0.5)),
	}}, nil
}

// perConnection lets n connections ask in a closed loop for one sample, and
// gives the µs of each answer to keep.
func (b *bench) perConnection(d *daemon, n int, event []byte, keep func([]float64)) (float64, error) {
	begin := time.Now()
	var wg sync.WaitGroup
	counts, errs := make([]int, n), make([]error, n)
	for i := range n {
		a, err := d.asking(event)
		if err != nil {
			return 0, err
		}
		wg.Go(func() {
			defer a.conn.Close()
			var took []float64
			for time.Since(begin) < b.sample && errs[i] == nil {
				t, err := a.ask(`"ok":true`)
				took, errs[i] = append(took, float64(t.Nanoseconds())/1000), err
				counts[i]++
			}
			keep(took)
		})
	}
	wg.Wait()
	sum := 0
	for i := range n {
		if errs[i] != nil {
			return 0, errs[i]
		}
		sum += counts[i]
	}
	return float64(sum) / time.Since(begin).Seconds(), nil
}
