package main

import (
	"fmt"
	"runtime"
	"strconv"
	"time"
)

const spawnWhat = "runs per second, spawned, socket to recorded run, "

func spawnGlibc(b *bench) ([]row, error) {
	program, err := b.noopGlibc()
	if err != nil {
		return nil, err
	}
	return b.spawn(program, "static no-op with glibc", 1.0, 0.70, true)
}

func spawnBare(b *bench) ([]row, error) {
	program, err := b.noopBare()
	if err != nil {
		return nil, err
	}
	return b.spawn(program, "no-op without libc", 1.0, 0.42, false)
}

// overPeer is how many times as fast as the peer the daemon is to be.
const overPeer = 1.2

// spawn compares the daemon, twice, with os/exec, C and, if asked to, the peer.
func (b *bench) spawn(program, what string, overExec, overC float64, withPeer bool) ([]row, error) {
	groups, err := b.start(spawnHooks(program), "HOOKD_CGROUP=false")
	if err != nil {
		return nil, err
	}
	defer groups.stop()
	full, err := b.start(spawnHooks(program))
	if err != nil {
		return nil, err
	}
	defer full.stop()
	limit, err := b.cLimit(program)
	if err != nil {
		return nil, err
	}
	loop, config, err := b.bestExec(program)
	if err != nil {
		return nil, err
	}
	list := []contender{
		{"groups", b.runsSample(groups, mostSpawned)}, {"defaults", b.runsSample(full, mostSpawned)}, loop, limit,
	}
	if withPeer {
		var peer contender
		if peer, withPeer = b.socat(program); withPeer {
			list = append(list, peer)
		}
	}
	s, err := contest(b.rounds, list)
	if err != nil {
		return nil, err
	}
	beside := fmt.Sprintf("os/exec %s (%s), C %s", count(s.median("os/exec")), config, count(s.median("C")))
	rows := []row{
		{what: spawnWhat + what + ", process groups only", beside: count(s.median("groups")) + "; " + beside},
		{what: spawnWhat + what + ", all defaults", beside: count(s.median("defaults"))},
	}
	for i, name := range []string{"groups", "defaults"} {
		rows[i].checks = []check{
			atLeast(fmt.Sprintf("≥ %.2f × os/exec", overExec), overExec, s.ratio(name, "os/exec"), "%.2f ×"),
			atLeast(fmt.Sprintf("≥ %.2f × C", overC), overC, s.ratio(name, "C"), "%.2f ×"),
		}
		if withPeer {
			rows[i].checks = append(rows[i].checks, atLeast(fmt.Sprintf("≥ %.1f × %s", overPeer, peerName),
				overPeer, s.ratio(name, peerName), "%.2f ×"))
		}
	}
	if withPeer {
		rows[0].beside += ", " + peerName + " " + count(s.median(peerName))
	}
	return rows, nil
}

func spawnHooks(program string) hooks {
	return hooks{"noop": yaml("noop", "bench:run", program, "order: parallel\n")}
}

// mostSpawned events at once do not fill the queue in memory.
const mostSpawned = 9000

// runsSample sends as many events as fit into one sample, most at most, and
// returns runs per second, from the first byte to the last run that is recorded.
func (b *bench) runsSample(d *daemon, most int) func() (float64, error) {
	event := line("bench:run", "", "", lineBytes)
	n := 500 // the first is a short one, which sets the size of the others
	return func() (float64, error) {
		before, err := d.runs()
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := d.flood(8, n, event); err != nil {
			return 0, err
		}
		if err := d.waitRuns(before + n); err != nil {
			return 0, err
		}
		rate := float64(n) / time.Since(begin).Seconds()
		n = min(most, max(500, int(rate*b.sample.Seconds())))
		return rate, nil
	}
}

func (b *bench) cLimit(program string) (contender, error) {
	spawner, err := b.spawner()
	return contender{"C", func() (float64, error) {
		return output(spawner, "rate", seconds(b.sample), strconv.Itoa(runtime.NumCPU()), program)
	}}, err
}

// bestExec finds the concurrency at which a bare os/exec loop is fastest here.
func (b *bench) bestExec(program string) (best contender, config string, err error) {
	var most float64
	for _, procs := range []int{runtime.NumCPU(), 4 * runtime.NumCPU()} {
		for _, workers := range []int{runtime.NumCPU(), 2 * runtime.NumCPU(), 4 * runtime.NumCPU()} {
			path, args, err := self("exec", "", strconv.Itoa(procs), strconv.Itoa(workers), program)
			if err != nil {
				return best, "", err
			}
			run := func(d time.Duration) (float64, error) { args[2] = seconds(d); return output(path, args...) }
			rate, err := run(b.sample / 2)
			if err != nil {
				return best, "", err
			}
			if rate > most {
				most, config = rate, fmt.Sprintf("%d workers, GOMAXPROCS %d", workers, procs)
				best = contender{"os/exec", func() (float64, error) { return run(b.sample) }}
			}
		}
	}
	return best, config, nil
}
