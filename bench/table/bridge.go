package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// starts is how often a process is started for a median.
func (b *bench) starts() int { return max(20, int(20*float64(b.rounds)*b.sample.Seconds())) }

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
