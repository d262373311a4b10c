package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mix is a daemon under all kinds of load at once, and the counts.
type mix struct {
	d        *daemon
	verdicts atomic.Int64
	lines    atomic.Int64
	kept     atomic.Int64 // runs of the persistent hook
	joined   atomic.Int64 // subscribers that have come and gone
	reloads  atomic.Int64
}

// moment is one sample of a soak.
type moment struct {
	at                        float64 // minutes from the start
	runs, verdicts, lines     float64 // per second since the moment before
	kept                      float64 // runs of the persistent hook, the same
	memory, descriptors, gaps float64
}

const (
	soakSamples   = 120
	soakSenders   = 4  // connections of observers
	soakWindow    = 50 // observers that each of them has under way
	soakAskers    = 2
	soakSessions  = 40
	soakLineBatch = 200
)

// soak runs the mix and reports whether anything grew or slowed down.
func (b *bench) soak(long time.Duration, out string) error {
	program, err := b.noopGlibc()
	if err != nil {
		return err
	}
	kept, err := workerHook("bench:kept")
	if err != nil {
		return err
	}
	h := hooks{
		"observer": yaml("observer", "bench:run", program), "guard": yaml("guard", "pre_tool_use", program),
		"changing": changing(0), "worker": kept,
	}
	d, err := b.start(h)
	if err != nil {
		return err
	}
	defer d.stop()
	m := &mix{d: d}
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	failed := make(chan error, 16)
	var load sync.WaitGroup
	for _, do := range m.loads() {
		load.Go(func() {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				failed <- err
				cancel()
			}
		})
	}
	moments, err := m.watch(ctx, long/soakSamples)
	load.Wait()
	select {
	case err = <-failed:
	default:
	}
	if err != nil {
		return fmt.Errorf("soak: %w\n%s", err, d.log)
	}
	return m.report(b, moments, long, out)
}

func (m *mix) loads() (list []func(context.Context) error) {
	for i := range soakSenders {
		list = append(list, func(ctx context.Context) error { return m.observe(ctx, i) })
	}
	for range soakAskers {
		list = append(list, m.ask)
	}
	return append(list, m.send, m.pour, m.comeAndGo, m.comeAndGo, m.neverRead, m.change)
}

// closing returns a connection that the end of ctx closes.
func (m *mix) closing(ctx context.Context) (*net.UnixConn, error) {
	c, err := m.d.dial()
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}

// observe sends observers, and more observers as the earlier ones have run.
func (m *mix) observe(ctx context.Context, sender int) error {
	var lines []byte
	for i := range soakWindow {
		lines = append(lines, line("bench:run", fmt.Sprintf(`"wait":%v,"session_id":"s%d",`, i == soakWindow-1, (sender*soakWindow+i)%soakSessions), "", lineBytes)...)
	}
	c, err := m.closing(ctx)
	if err != nil {
		return err
	}
	for {
		if _, err := c.Write(lines); err != nil {
			return err
		}
		if _, err := countAnswers(c, soakWindow); err != nil {
			return err
		}
	}
}

// send sends events to the persistent hook, durable as all others.
func (m *mix) send(ctx context.Context) error {
	c, err := m.closing(ctx)
	if err != nil {
		return err
	}
	lines := bytes.Repeat(line("bench:kept", "", "", lineBytes), soakLineBatch-1)
	lines = append(lines, line("bench:kept", `"wait":true,`, "", lineBytes)...)
	for {
		if _, err := c.Write(lines); err != nil {
			return err
		}
		if _, err := countAnswers(c, soakLineBatch); err != nil {
			return err
		}
		m.kept.Add(soakLineBatch)
		time.Sleep(50 * time.Millisecond)
	}
}

func (m *mix) ask(ctx context.Context) error {
	c, err := m.closing(ctx)
	if err != nil {
		return err
	}
	a := newAsking(c, guard())
	for {
		if _, err := a.ask(ranOK); err != nil {
			return err
		}
		m.verdicts.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
}

// pour sends events that no hook matches.
func (m *mix) pour(ctx context.Context) error {
	c, err := m.closing(ctx)
	if err != nil {
		return err
	}
	lines := bytes.Repeat(noMatch(lineBytes), soakLineBatch)
	for {
		if _, err := c.Write(lines); err != nil {
			return err
		}
		if _, err := countAnswers(c, soakLineBatch); err != nil {
			return err
		}
		m.lines.Add(soakLineBatch)
		time.Sleep(2 * time.Millisecond)
	}
}

// comeAndGo subscribes, reads for a second, hangs up in the middle, again and
// again.
func (m *mix) comeAndGo(ctx context.Context) error {
	for ctx.Err() == nil {
		c, err := m.d.dial()
		if err != nil {
			return err
		}
		if _, err := c.Write([]byte(`{"subscribe":["*"]}` + "\n")); err != nil {
			return err
		}
		c.SetReadDeadline(time.Now().Add(time.Second))
		io.Copy(io.Discard, c)
		c.Close()
		m.joined.Add(1)
	}
	return nil
}

func (m *mix) neverRead(ctx context.Context) error {
	c, err := m.closing(ctx)
	if err != nil {
		return err
	}
	if _, err := c.Write([]byte(`{"subscribe":["*"]}` + "\n")); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// change edits a hook and asks for a reload.
func (m *mix) change(ctx context.Context) error {
	file := filepath.Join(m.d.home, "hooks", "changing", "HOOK.yaml")
	for i := 1; ctx.Err() == nil; i++ {
		if err := os.WriteFile(file, []byte(changing(i)), 0o600); err != nil {
			return err
		}
		if _, err := m.d.client.Reload(ctx); err != nil {
			return err
		}
		m.reloads.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
	return nil
}

func changing(i int) string {
	return yaml("changing", fmt.Sprintf("bench:never%d", i), "/bin/true", fmt.Sprintf("description: change %d\n", i))
}

// watch takes a moment every so often until ctx ends.
func (m *mix) watch(ctx context.Context, every time.Duration) (list []moment, err error) {
	pid, begin := m.d.pid(), time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var runs, verdicts, lines, kept float64
	for {
		select {
		case <-ctx.Done():
			return list, nil
		case <-ticker.C:
		}
		info, err := m.d.info()
		if err != nil {
			return list, err
		}
		use, err := usageOf(pid)
		if err != nil {
			return list, err
		}
		r := 0.0
		for _, n := range info.Runs {
			r += float64(n)
		}
		v, l, k, s := float64(m.verdicts.Load()), float64(m.lines.Load()), float64(m.kept.Load()), every.Seconds()
		list = append(list, moment{
			at: time.Since(begin).Minutes(), runs: max(0, r-runs-k+kept) / s,
			kept: (k - kept) / s, verdicts: (v - verdicts) / s, lines: (l - lines) / s,
			memory: mib(use.rss), descriptors: float64(use.descriptors), gaps: float64(info.Gaps),
		})
		runs, verdicts, lines, kept = r, v, l, k
	}
}

// fifth returns the median of one fifth of the moments, 0 to 4.
func fifth(list []moment, n int, of func(moment) float64) float64 {
	var values []float64
	for _, m := range list[len(list)*n/5 : len(list)*(n+1)/5] {
		values = append(values, of(m))
	}
	return quantile(values, 0.5)
}

// report compares the second fifth of the time, when all is warm, with the last.
func (m *mix) report(b *bench, list []moment, long time.Duration, out string) error {
	if len(list) < 10 {
		return fmt.Errorf("soak: %d samples are too few", len(list))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s, on %s, load average at the start %s: %d spawned runs, %d of the persistent hook, "+
		"%d verdicts, %d events without a hook, %d subscribers that came and went, %d reloads, %.0f gap records.\n\n",
		began.UTC().Format("2006-01-02 15:04 MST"), long, machine(), b.load, sum(list, long, moment.runsOf),
		m.kept.Load(), m.verdicts.Load(), m.lines.Load(), m.joined.Load(), m.reloads.Load(), list[len(list)-1].gaps)
	noLess := func(first, last float64) bool { return last >= 0.9*first }
	noMore := func(first, last float64) bool { return last <= 1.1*first }
	text.WriteString("| median of | second fifth | last fifth | to reach | |\n| --- | --- | --- | --- | --- |\n")
	for _, l := range []struct {
		what, target string
		of           func(moment) float64
		ok           func(first, last float64) bool
	}{
		{"spawned runs per second, verdicts among them", "≥ 0.9 ×", moment.runsOf, noLess},
		{"runs of the persistent hook per second", "≥ 0.9 ×", moment.keptOf, noLess},
		{"verdicts per second", "≥ 0.9 ×", moment.verdictsOf, noLess},
		{"events without a hook per second", "≥ 0.9 ×", moment.linesOf, noLess},
		{"resident memory, MiB", "≤ 1.1 ×", moment.memoryOf, noMore},
		{"descriptors", "within 10", moment.descriptorsOf, func(first, last float64) bool { return last <= first+10 }},
	} {
		first, last := fifth(list, 1, l.of), fifth(list, 4, l.of)
		word := "reached"
		if !l.ok(first, last) {
			word = "**not reached**"
		}
		fmt.Fprintf(&text, "| %s | %.0f | %.0f | %s | %s |\n", l.what, first, last, l.target, word)
	}
	text.WriteString("\n![throughput, memory and descriptors over time](benchmarks/soak.svg)\n")
	fmt.Print(text.String())
	if out == "" {
		return nil
	}
	if err := writePlot(plotsOf(out), "soak", timeline(list)); err != nil {
		return err
	}
	return replaceIn(out, "soak", text.String())
}

func (m moment) runsOf() float64        { return m.runs }
func (m moment) keptOf() float64        { return m.kept }
func (m moment) verdictsOf() float64    { return m.verdicts }
func (m moment) linesOf() float64       { return m.lines }
func (m moment) memoryOf() float64      { return m.memory }
func (m moment) descriptorsOf() float64 { return m.descriptors }

// sum turns rates back into a number.
func sum(list []moment, long time.Duration, of func(moment) float64) (n int) {
	for _, m := range list {
		n += int(of(m) * long.Seconds() / soakSamples)
	}
	return n
}
