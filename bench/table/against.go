package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// toolEvent is a tool event of Claude Code, of about size bytes, that no hook of
// this measure is for.
func toolEvent(size int) []byte {
	return line("PostToolUse", `"dialect":"claude-code","session_id":"s1","cwd":"/tmp",`,
		`"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"go test ./... | tail -n 3"},`, size)
}

// against measures this hookd and another hookd in turn, on the same machine and in the
// same minutes: which price do the changes between them have? Everything is a ratio, of
// this one over the other.
func against(b *bench) (rows []row, err error) {
	if b.other == "" {
		return nil, missing{"another hookd to compare with, see -against"}
	}
	worker, err := workerHook("pre_tool_use")
	if err != nil {
		return nil, err
	}
	observer, err := workerHook("bench:run")
	if err != nil {
		return nil, err
	}
	observer = strings.Replace(observer, "name: worker", "name: observer", 1)
	rows, err = b.bothDo(hooks{"guard": worker, "worker": observer}, []doing{
		{"events accepted, no hook, 266 bytes", b.lines(noMatch(lineBytes))},
		{"tool events accepted, no hook, 266 bytes", b.lines(toolEvent(lineBytes))},
		{"tool events accepted, no hook, 1,200 bytes", b.lines(toolEvent(1200))},
		{"tool events accepted, no hook, 16 KB", b.lines(toolEvent(16 << 10))},
		{"tool events accepted, no hook, 64 KB", b.lines(toolEvent(64 << 10))},
		{"verdicts by a persistent hook, one sender", b.verdicts(1)},
		{"verdicts by a persistent hook, eight senders", b.verdicts(8)},
		{"runs of a persistent observer, recorded", b.recorded(100_000)},
	})
	if err != nil {
		return rows, err
	}
	program, err := b.noopBare()
	if err != nil {
		return rows, err
	}
	spawned := spawnHooks(program)
	spawned["guard"] = yaml("guard", "pre_tool_use", program)
	more, err := b.bothDo(spawned, []doing{
		{"verdicts by a spawned hook, one sender", b.verdicts(1)},
		{"verdicts by a spawned hook, eight senders", b.verdicts(8)},
		{"runs of a spawned observer, recorded", b.recorded(mostSpawned)},
	})
	return append(rows, more...), err
}

// doing is something that both daemons do in turn.
type doing struct {
	what   string
	sample sampler
}

// bothDo starts both daemons with the same hooks and compares their work.
func (b *bench) bothDo(h hooks, list []doing) (rows []row, err error) {
	list = slices.DeleteFunc(list, func(m doing) bool { return !b.only.MatchString(m.what) })
	if len(list) == 0 {
		return nil, nil
	}
	here, err := b.start(h, "HOOKD_QUEUE_MAX_EVENTS=1000000")
	if err != nil {
		return nil, err
	}
	defer here.stop()
	there, err := b.startOther(h, "HOOKD_QUEUE_MAX_EVENTS=1000000")
	if err != nil {
		return nil, err
	}
	defer there.stop()
	for _, m := range list {
		r, err := b.inTurn(m.what, here, there, m.sample)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", m.what, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// recorded samples how many runs of observers end in the store a second.
func (b *bench) recorded(most int) sampler {
	return func(d *daemon) (func() (float64, error), func(), error) {
		return b.runsSample(d, most), func() {}, nil
	}
}

// startOther is start for the hookd to compare with.
func (b *bench) startOther(h hooks, settings ...string) (*daemon, error) {
	other := *b
	other.hookd, other.homes = b.other, b.homes+1000
	return other.start(h, settings...)
}

type sampler func(*daemon) (run func() (float64, error), end func(), err error)

// inTurn compares the findings of sample on two daemons, and how much work they do in
// a second of processor time: where other programs run beside them, that tells more.
func (b *bench) inTurn(what string, here, there *daemon, sample sampler) (r row, err error) {
	var list []contender
	worth, switches := samples{}, samples{}
	for _, side := range []struct {
		name string
		*daemon
	}{{"here", here}, {"there", there}} {
		run, end, err := sample(side.daemon)
		if err != nil {
			return r, err
		}
		defer end()
		used, err := usageOf(side.pid())
		if err != nil {
			return r, missing{err.Error()}
		}
		list = append(list, contender{side.name, func() (float64, error) {
			begin, before := time.Now(), used
			rate, err := run()
			if err != nil {
				return 0, err
			}
			done := rate * time.Since(begin).Seconds()
			used, err = usageOf(side.pid()) // since the sample before: what a daemon does later is paid for as well
			worth[side.name] = append(worth[side.name], done/(used.cpu-before.cpu).Seconds())
			switches[side.name] = append(switches[side.name], float64(used.switches-before.switches)/done)
			return rate, err
		}})
	}
	s, err := contest(b.rounds, list)
	if err != nil {
		return r, err
	}
	return row{
		what: what,
		checks: []check{
			atLeast("≥ 0.95 × the other, for the same processor time", 0.95, worth.ratio("here", "there"), "%.2f ×"),
			info("of the other's rate", fmt.Sprintf("%.2f ×", s.ratio("here", "there"))),
		},
		beside: fmt.Sprintf("%s and %s a second; %s and %s for a second of processor time; %.2f and %.2f context switches each",
			count(s.median("here")), count(s.median("there")),
			count(worth.median("here")), count(worth.median("there")),
			switches.median("here"), switches.median("there")),
	}, nil
}

// lines samples how many copies of a line are accepted a second.
func (b *bench) lines(text []byte) sampler {
	return func(d *daemon) (func() (float64, error), func(), error) {
		s, err := newLineSender(d.socket)
		if err != nil {
			return nil, nil, err
		}
		return func() (float64, error) { return s.sample(text, b.sample) }, s.close, nil
	}
}

// verdicts samples how many verdicts n senders get a second, each waiting for a verdict
// before it asks for the next.
func (b *bench) verdicts(n int) sampler {
	return func(d *daemon) (func() (float64, error), func(), error) {
		var asks []*asking
		end := func() {
			for _, a := range asks {
				a.conn.Close()
			}
		}
		for range n {
			a, err := d.asking(guard())
			if err != nil {
				end()
				return nil, nil, err
			}
			asks = append(asks, a)
		}
		return func() (float64, error) { return together(asks, b.sample) }, end, nil
	}
}

// together has all ask for the time of one sample and returns answers per second.
func together(asks []*asking, sample time.Duration) (float64, error) {
	begin := time.Now()
	var mu sync.Mutex
	var failed error
	var senders sync.WaitGroup
	total := 0
	for _, a := range asks {
		senders.Go(func() {
			n := 0
			var err error
			for err == nil && time.Since(begin) < sample {
				_, err = a.ask(ranOK)
				n++
			}
			mu.Lock()
			defer mu.Unlock()
			if total += n; err != nil {
				failed = err
			}
		})
	}
	senders.Wait()
	return float64(total) / time.Since(begin).Seconds(), failed
}
