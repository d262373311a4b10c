package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// starts is how often a process is started for a median.
func (b *bench) starts() int { return max(20, int(20*float64(b.rounds)*b.sample.Seconds())) }

// bridgeEmit compares the small binary with a Go program that does nothing but
// dial, write one line and read the answer.
func bridgeEmit(b *bench) ([]row, error) {
	d, err := b.start(nil)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	dial, err := b.dialer()
	if err != nil {
		return nil, err
	}
	s, err := contest(b.starts(), []contender{
		process("bridge", d, "", b.bridge, "emit", "bench:none", "--data", `{"a":1}`),
		process("dial", d, "", dial, d.socket, string(noMatch(lineBytes))),
	})
	if err != nil {
		return nil, err
	}
	return []row{{
		what:   "hookd-bridge emit, start to end of the process, answer read",
		checks: []check{atMost("≤ 1.3 × a Go program that dials, writes one line, reads the answer", 1.3, s.ratio("bridge", "dial"), "%.2f ×")},
		beside: fmt.Sprintf("%.2f ms, that program %.2f ms", s.median("bridge"), s.median("dial")),
	}}, nil
}

func (b *bench) dialer() (string, error) {
	to := filepath.Join(b.dir, "dial")
	return to, b.build(to, ".", "./dial")
}

// process is a contender that starts a program which asks a hookd, and takes the
// milliseconds until it has ended.
func process(name string, d *daemon, stdin string, args ...string) contender {
	return contender{name, func() (float64, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(environment(), "LIBREFANG_HOME="+d.home, "SOCKET="+d.socket)
		if stdin != "" {
			f, err := os.Open(stdin)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			cmd.Stdin = f
		}
		begin := time.Now()
		err := cmd.Run()
		return float64(time.Since(begin).Microseconds()) / 1000, err
	}}
}
