package main

import (
	"bufio"
	"fmt"
	"sync"
	"time"
)

// largeBytes is one event of the largest kind: max_event_bytes is 16 MiB.
const largeBytes = 15 << 20

// verdictBesideLarge asks a persistent guard 100 times a second while another connection
// sends one large event after another, and before it does.
func verdictBesideLarge(b *bench) ([]row, error) {
	d, a, end, err := b.askingWorker()
	if err != nil {
		return nil, err
	}
	defer end()
	ask := map[string]func() (time.Duration, error){"hookd": func() (time.Duration, error) { return a.ask(ranOK) }}
	alone, err := b.paced(ask)
	if err != nil {
		return nil, err
	}
	sent, stop, err := d.sendOn(noMatch(largeBytes))
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	beside, err := b.paced(ask)
	took := time.Since(begin)
	n, failed := sent(), stop()
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("send large events: %w", failed)
	}
	return []row{{
		what:   "verdict by a persistent hook at 100 a second beside one sender of 15 MiB events",
		checks: []check{atMost("p99 ≤ 5 ms", 5000, quantile(beside["hookd"], 0.99), "%.0f µs")},
		beside: fmt.Sprintf("p50 / p99 in µs: beside it %s, alone %s; %.0f MiB a second were sent",
			both(beside["hookd"]), both(alone["hookd"]), float64(n)*15/took.Seconds()),
	}}, nil
}

// sendOn sends copies of line over a connection of its own, one after the other's answer,
// until stop is called. sent returns how many are answered.
func (d *daemon) sendOn(line []byte) (sent func() int, stop func() error, err error) {
	c, err := d.dial()
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var failed error
	n, over := 0, false
	var sender sync.WaitGroup
	sender.Go(func() {
		for in := bufio.NewReader(c); ; {
			_, err := c.Write(line)
			if err == nil {
				_, err = in.ReadSlice('\n')
			}
			mu.Lock()
			if n++; err != nil && !over {
				failed = err
			}
			done := over || err != nil
			mu.Unlock()
			if done {
				return
			}
		}
	})
	count := func() int { mu.Lock(); defer mu.Unlock(); return n }
	return count, func() error {
		mu.Lock()
		over = true
		mu.Unlock()
		sender.Wait()
		c.Close()
		return failed
	}, nil
}
