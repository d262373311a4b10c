package main

import (
	"fmt"
	"time"
)

// mixed makes n hooks as people write them: 70 % exact names, 25 % prefixes,
// 5 % other globs. None matches the events of the measures.
func mixed(n int) hooks {
	h := hooks{}
	for i := range n {
		pattern := fmt.Sprintf("app%d:done", i)
		switch {
		case i%20 == 0:
			pattern = fmt.Sprintf("*:step%d", i)
		case i%4 == 1:
			pattern = fmt.Sprintf("app%d:*", i)
		}
		h[fmt.Sprintf("hook%05d", i)] = yaml(fmt.Sprint("hook", i), pattern, "/bin/true")
	}
	return h
}

func manyHooks(b *bench) ([]row, error) {
	const n = 10_000
	d, err := b.start(mixed(n))
	if err != nil {
		return nil, err
	}
	defer d.stop()
	none, err := b.start(nil)
	if err != nil {
		return nil, err
	}
	defer none.stop()
	var loads []float64
	for range b.rounds {
		with, err := b.restart(d)
		if err != nil {
			return nil, err
		}
		without, err := b.restart(none)
		if err != nil {
			return nil, err
		}
		loads = append(loads, (with - without).Seconds())
	}
	if info, err := d.info(); err != nil || info.Hooks["active"] != n {
		return nil, fmt.Errorf("%d of %d hooks are active: %w", info.Hooks["active"], n, err)
	}
	time.Sleep(settleTime) // it reads all again once they are watched
	use, err := usageOf(d.pid())
	if err != nil {
		return nil, err
	}
	known, fresh, err := matchTimes()
	if err != nil {
		return nil, err
	}
	return []row{
		{
			what:   "10,000 hooks: load, as the time that they add to the start of the daemon",
			checks: []check{atMost("≤ 0.5 s", 0.5, quantile(loads, 0.5), "%.2f s")},
		},
		{
			what: "10,000 hooks: match",
			checks: []check{
				atMost("a known name ≤ 1 µs", 1000, known, "%.0f ns"),
				atMost("a new name ≤ 5 µs", 5000, fresh, "%.0f ns"),
			},
			beside: "go test ./internal/hooks/match -run '^$' -bench Match -benchmem",
		},
		{
			what:   "10,000 hooks: resident memory, " + settleTime.String() + " after the last start",
			checks: []check{atMost("≤ 64 MiB", 64, mib(use.rss), "%.1f MiB")},
		},
	}, nil
}

// restart stops the daemon and starts it on the same home; it returns how long
// it took to be ready.
func (b *bench) restart(d *daemon) (time.Duration, error) {
	d.halt()
	begin := time.Now()
	err := b.serve(d, nil)
	return time.Since(begin), err
}

// matchTimes runs the benchmarks of package match: ns.
func matchTimes() (known, fresh float64, err error) {
	got, err := goBench("./internal/hooks/match", "^BenchmarkMatch$", "0.3s")
	if err != nil {
		return 0, 0, err
	}
	return got["Match/known"]["ns/op"], got["Match/new"]["ns/op"], nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
