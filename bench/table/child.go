package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// child is this program as another process: one side of a comparison.
func child(name string, args []string) {
	var err error
	switch name {
	case "exec":
		err = execLoop(args)
	case "exec-ask":
		err = execAsk(args)
	case "worker":
		err = worker()
	case "relay":
		err = relay(args)
	default:
		err = fmt.Errorf("no child %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table child:", err)
		os.Exit(1)
	}
}

// hookInput is about the input that a hook of these measures gets on stdin.
var hookInput = bytes.Repeat([]byte("x"), 300)

// capture is one run by os/exec as programs usually do it: with stdin, and both outputs
// captured, but without the session and the deadline that hookd adds.
func capture(program string) error {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(hookInput), &stdout, &stderr
	return cmd.Run()
}

// execLoop: SECONDS PROCS WORKERS PROGRAM; prints runs per second.
func execLoop(args []string) error {
	seconds, _ := strconv.ParseFloat(args[0], 64)
	procs, _ := strconv.Atoi(args[1])
	workers, _ := strconv.Atoi(args[2])
	runtime.GOMAXPROCS(procs)
	var n atomic.Int64
	begin := time.Now()
	end := begin.Add(time.Duration(seconds * float64(time.Second)))
	errs := make(chan error, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for time.Now().Before(end) {
				if err := capture(args[3]); err != nil {
					errs <- err
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	fmt.Printf("%.1f\n", float64(n.Load())/time.Since(begin).Seconds())
	return nil
}

// execAsk: PROGRAM; for each byte on stdin one run, prints its nanoseconds.
func execAsk(args []string) error {
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadByte(); err != nil {
			return nil
		}
		begin := time.Now()
		if err := capture(args[0]); err != nil {
			return err
		}
		fmt.Println(time.Since(begin).Nanoseconds())
	}
}

// relay: SOCKET; hands each line of one connection to a worker, and its answer back. A
// verdict by a persistent hook takes at least this work.
func relay(args []string) error {
	l, err := net.Listen("unix", args[0])
	if err != nil {
		return err
	}
	path, args, err := self("worker")
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...)
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	c, err := l.Accept()
	if err != nil {
		return err
	}
	answers := bufio.NewReader(from)
	for in := bufio.NewReader(c); ; {
		text, err := in.ReadSlice('\n')
		if err != nil {
			return nil
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
		if text, err = answers.ReadSlice('\n'); err != nil {
			return err
		}
		if _, err := c.Write(text); err != nil {
			return err
		}
	}
}

// self starts this program as a child.
func self(args ...string) (string, []string, error) {
	path, err := os.Executable()
	return path, append([]string{"child"}, args...), err
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 3, 64), ".000")
}
