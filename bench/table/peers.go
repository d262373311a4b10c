package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peerName is the peer that each spawned run is compared with: a shell loop fed by socat, as people write it.
const peerName = "socat | while read"

const peerScript = `socat -u UNIX-LISTEN:"$1" STDOUT | while IFS= read -r line; do printf '%s\n' "$line" | "$2"; done`

// socat is that loop, with program for each line; there is none on a machine without socat.
func (b *bench) socat(program string) (peer contender, there bool) {
	if _, err := exec.LookPath("socat"); err != nil {
		return peer, false
	}
	socket := filepath.Join(b.dir, "socat.sock")
	event := line("bench:run", "", "", 266)
	n := 200
	return contender{peerName, func() (float64, error) {
		os.Remove(socket)
		cmd := exec.Command("/bin/sh", "-c", peerScript, "sh", socket, program)
		cmd.Env = environment()
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		c, err := net.Dial("unix", socket)
		for begin := time.Now(); err != nil && time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
			c, err = net.Dial("unix", socket)
		}
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		_, err = c.Write(bytes.Repeat(event, n))
		c.Close()
		if err := cmd.Wait(); err != nil {
			return 0, err
		}
		rate := float64(n) / time.Since(begin).Seconds()
		n = max(100, int(rate*b.sample.Seconds()))
		return rate, err
	}}, true
}
