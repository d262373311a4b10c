package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// cores plots how long hookd takes for an event with a recorded run, as it may use more
// processors at once. The sender and the disk share the machine with it, so there is
// nothing to be reached.
func cores(b *bench) ([]row, error) {
	p := plot{file: "cores", title: "time per event with a recorded run", x: "GOMAXPROCS", y: "µs"}
	var names []string
	var list []contender
	for _, n := range coreCounts(runtime.NumCPU()) {
		d, err := b.start(builtinHook("bench:session"), fmt.Sprintf("GOMAXPROCS=%d", n))
		if err != nil {
			return nil, err
		}
		defer d.stop()
		names = append(names, fmt.Sprint(n))
		p.points = append(p.points, point{x: float64(n)})
		list = append(list, contender{fmt.Sprint(n), func() (float64, error) {
			begin := time.Now()
			err := d.runSessions(growingEvents, 100)
			return float64(time.Since(begin).Nanoseconds()) / 1000 / growingEvents, err
		}})
	}
	s, err := contest(b.rounds, list)
	if err != nil {
		return nil, err
	}
	var texts []string
	for i, name := range names {
		p.points[i].y = s.median(name)
		texts = append(texts, fmt.Sprintf("%s: %.1f µs", name, p.points[i].y))
	}
	p.flat = true
	b.plots = append(b.plots, p)
	most := names[len(names)-1]
	return []row{{
		what:   "time per event with a recorded run as hookd may use more processors (GOMAXPROCS; the sender is on the same ones)",
		checks: []check{info("with "+most+", of the time with 1", fmt.Sprintf("%.2f ×", s.ratio(most, "1")))},
		beside: strings.Join(texts, ", ") + " ([plot](benchmarks/cores.svg))",
	}}, nil
}

// coreCounts are 1, 2, 4 and so on up to all processors, and twice as many: hookd's
// default is four at least.
func coreCounts(all int) (list []int) {
	for n := 1; n <= 2*all; n *= 2 {
		list = append(list, n)
	}
	return list
}
