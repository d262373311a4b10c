package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
)

// growing is one thing that grows, with the cost of an event to the daemon then.
type growing struct {
	what, unit string
	sizes      []int
	linear     bool // the cost grows with the size; else it should stay
	cost       func(b *bench, size int) (float64, error)
}

var growths = []growing{
	{"hooks, none of which matches", "hooks", []int{10, 100, 1000}, false, costOfHooks},
	{"subscribers, each of which gets every event", "subscribers", []int{1, 10, 100}, true, costOfSubscribers},
	{"sessions, whose runs are kept in order", "sessions", []int{10, 100, 1000}, false, costOfSessions},
	{"payload", "bytes", []int{256, 2560, 25600}, true, costOfPayload},
	{"events since the start", "events", []int{10_000, 100_000, 1_000_000}, false, costOfEvents},
	{"runs in the history", "runs", []int{1000, 10_000, 100_000}, false, costOfHistory},
	{"grants that answer other calls", "grants", []int{10, 100, 1000}, false, costOfGrants},
	{"calls that can be undone, a call that deletes a file", "calls", []int{10, 100, 1000}, false, costOfUndo},
}

// growth is the processor time of the daemon per event as things grow tenfold and a
// hundredfold. Flat things may grow by a half; things that have to be touched may cost
// no more than in proportion.
func growth(b *bench) (rows []row, err error) {
	for _, g := range growths {
		var costs []float64
		var texts []string
		for _, size := range g.sizes {
			us, err := b.medianOf(func() (float64, error) { return g.cost(b, size) })
			if err != nil {
				return rows, fmt.Errorf("%d %s: %w", size, g.unit, err)
			}
			costs = append(costs, us)
			texts = append(texts, fmt.Sprintf("%s: %.2f µs", count(float64(size)), us))
		}
		grown := costs[len(costs)-1] / costs[0]
		c := atMost("× 100 costs ≤ 1.5 ×", 1.5, grown, "%.2f ×")
		if g.linear {
			c = atMost("× 100 costs ≤ 100 ×", 100, grown, "%.1f ×")
		}
		rows = append(rows, row{what: "cost per event as it grows: " + g.what, checks: []check{c},
			beside: strings.Join(texts, ", ")})
	}
	return rows, nil
}

// medianOf takes three samples.
func (b *bench) medianOf(sample func() (float64, error)) (float64, error) {
	var list []float64
	for range 3 {
		v, err := sample()
		if err != nil {
			return 0, err
		}
		list = append(list, v)
	}
	return quantile(list, 0.5), nil
}

// costOf returns the µs of processor time that d spends on each event that send sends,
// also on its later work for them; send says how many it sent.
func (d *daemon) costOf(send func() (int, error)) (float64, error) {
	if _, err := send(); err != nil { // to warm up
		return 0, err
	}
	before, err := d.settled()
	if err != nil {
		return 0, err
	}
	n, err := send()
	if err != nil {
		return 0, err
	}
	after, err := d.settled()
	if err != nil {
		return 0, err
	}
	return float64((after - before).Nanoseconds()) / 1000 / float64(n), nil
}

// settled returns the processor time of a daemon that has done its remaining work, such
// as to move accepts from the journal to the database.
func (d *daemon) settled() (time.Duration, error) {
	const still, often = 2 * time.Millisecond, 200 * time.Millisecond
	pid := d.pid()
	last, err := usageOf(pid)
	for begin := time.Now(); err == nil; {
		time.Sleep(often)
		var now usage
		if now, err = usageOf(pid); err == nil && now.cpu-last.cpu < still || time.Since(begin) > patience {
			return now.cpu, err
		}
		last = now
	}
	return 0, err
}

// with measures a daemon with some hooks, which ends afterwards.
func (b *bench) with(h hooks, measure func(d *daemon) (float64, error)) (float64, error) {
	d, err := b.start(h)
	if err != nil {
		return 0, err
	}
	defer d.stop()
	return measure(d)
}

// costOfSent is the mean of n events of a size that no hook matches.
func (d *daemon) costOfSent(n, size int) (float64, error) {
	return d.costOf(func() (int, error) { return n, d.send(n, noMatch(size)) })
}

func costOfHooks(b *bench, n int) (float64, error) {
	return b.with(mixed(n), func(d *daemon) (float64, error) { return d.costOfSent(50_000, lineBytes) })
}

func costOfPayload(b *bench, size int) (float64, error) {
	return b.with(nil, func(d *daemon) (float64, error) { return d.costOfSent(min(50_000, 200<<20/size), size) })
}

func costOfSubscribers(b *bench, n int) (float64, error) {
	return b.with(nil, func(d *daemon) (float64, error) {
		g, err := d.follow(n, line("bench:fan", "", "", 180))
		defer g.close()
		if err != nil {
			return 0, err
		}
		return d.costOf(func() (int, error) {
			before := g.sent
			_, err := g.sample(b.sample / 2)
			return int(g.sent - before), err
		})
	})
}

func costOfEvents(b *bench, n int) (float64, error) {
	return b.with(nil, func(d *daemon) (float64, error) { return d.costOfSent(n, lineBytes) })
}

// growingEvents is how many events each measurement of costOfRuns takes.
const growingEvents = 5000

// builtinHook runs in the daemon, where a run costs next to nothing but its record and
// its order.
func builtinHook(event string) hooks {
	return hooks{"keep": fmt.Sprintf("name: keep\nevents: [%q]\ntype: builtin\ncommand: add_date\n", event)}
}

// costOfHistory fills the history with runs before it measures.
func costOfHistory(b *bench, runs int) (float64, error) {
	d, err := b.start(builtinHook("bench:session"))
	if err != nil {
		return 0, err
	}
	defer d.stop()
	for left := runs; left > 0; left -= growingEvents { // no more at once than the queue in memory has room for
		if err := d.runSessions(min(left, growingEvents), 100); err != nil {
			return 0, err
		}
	}
	return d.costOf(func() (int, error) { return growingEvents, d.runSessions(growingEvents, 100) })
}

// costOfSessions sends events of many sessions, whose runs are kept in order.
func costOfSessions(b *bench, sessions int) (float64, error) {
	return b.with(builtinHook("bench:session"), func(d *daemon) (float64, error) {
		return d.costOf(func() (int, error) { return growingEvents, d.runSessions(growingEvents, sessions) })
	})
}

// growingCalls is how many calls each measurement of costOfGrants and costOfUndo takes.
const growingCalls = 300

// costOfGrants lets a person permit so many calls, and measures others that the same guard denies.
func costOfGrants(b *bench, n int) (float64, error) {
	d, err := b.start(hooks{"guard": "name: guard\nrules:\n  - {deny: deploy *, why: not from here}\n"})
	if err != nil {
		return 0, err
	}
	defer d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i := range n {
		data := fmt.Appendf(nil, `{"tool_name":"Bash","tool_use_id":"g%d","tool_input":{"command":"deploy to-%d"}}`, i, i)
		a, err := d.client.Emit(ctx, client.Event{
			Event: "PreToolUse", Dialect: "claude-code", SessionID: "s", Cwd: "/tmp", Wait: true, Data: data,
		})
		if err != nil {
			return 0, err
		}
		if _, err := d.client.Permit(ctx, a.EventID, "1h"); err != nil {
			return 0, err
		}
	}
	return d.costOfCalls(func(i int) (command, cwd string) { return fmt.Sprint("deploy elsewhere-", i), "/tmp" })
}

// costOfUndo keeps n deletions of a file each, then measures the next ones.
func costOfUndo(b *bench, n int) (float64, error) {
	d, err := b.start(hooks{"guard": "name: guard\nrules:\n  - {deny: mkfs *, why: it is a disk}\n"})
	if err != nil {
		return 0, err
	}
	defer d.stop()
	work := filepath.Join(b.dir, fmt.Sprint("work", b.homes))
	if err := os.Mkdir(work, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	for i := range n + 2*growingCalls {
		if err := os.WriteFile(filepath.Join(work, fmt.Sprint("f", i)), make([]byte, 2048), 0o600); err != nil {
			return 0, err
		}
	}
	next := 0
	rm := func(int) (command, cwd string) { next++; return fmt.Sprint("rm f", next-1), work }
	if err := d.callAll(n, rm); err != nil {
		return 0, err
	}
	return d.costOfCalls(rm)
}

func (d *daemon) costOfCalls(of func(i int) (command, cwd string)) (float64, error) {
	return d.costOf(func() (int, error) { return growingCalls, d.callAll(growingCalls, of) })
}

// callAll asks for n verdicts on shell commands, one after another.
func (d *daemon) callAll(n int, of func(i int) (command, cwd string)) error {
	a, err := d.asking(nil)
	if err != nil {
		return err
	}
	defer a.conn.Close()
	for i := range n {
		command, cwd := of(i)
		a.line = line("PreToolUse", fmt.Sprintf(`"wait":true,"dialect":"claude-code","session_id":"s","cwd":%q,`, cwd),
			fmt.Sprintf(`"cwd":%q,"tool_name":"Bash","tool_use_id":"%s%d","tool_input":{"command":%q},`, cwd, command, i, command), 0)
		if _, err := a.ask(`"ok":true`); err != nil {
			return err
		}
	}
	return nil
}

// runSessions sends n events of so many sessions over one connection, and returns when
// their runs are recorded.
func (d *daemon) runSessions(n, sessions int) error {
	before, err := d.runs()
	if err != nil {
		return err
	}
	var lines []byte
	for i := range n {
		lines = append(lines, line("bench:session", fmt.Sprintf(`"session_id":"s%d",`, i%sessions), "", lineBytes)...)
	}
	c, err := d.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	go c.Write(lines)
	if _, err := countAnswers(c, n); err != nil {
		return err
	}
	return d.waitRuns(before + n)
}
