package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// SIGHUP may follow the socket's appearance at once: its handler comes first.
func TestHangupAtTheMomentOfTheSocket(t *testing.T) {
	t.Parallel()
	home := hooktest.ShortDir(t)
	socket := filepath.Join(home, "hookd.sock")
	binary := hookdBinary(t, home)
	for range hooktest.Amount(5, 1) {
		cmd := exec.Command(binary, "serve", "--fire-startup=false")
		var log bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), "LIBREFANG_HOME="+home), &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for there := false; !there; {
			select {
			case err := <-ended:
				t.Fatalf("hookd ended before its socket was there: %v, %s", err, log.String())
			default:
				_, err := os.Lstat(socket)
				there = err == nil
			}
		}
		for range 3 {
			cmd.Process.Signal(syscall.SIGHUP)
		}
		c := client.New(client.Options{Socket: socket})
		hooktest.Until(t, "hookd is ready, or has ended", func() bool { return len(ended) > 0 || c.Ready(t.Context()) == nil })
		cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Fatalf("hookd ended with %v, %s", err, log.String())
		}
	}
}
