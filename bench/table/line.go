package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const lineBytes = 266

// noMatch is an event that no hook matches.
func noMatch(size int) []byte {
	return line("bench:none", `"session_id":"s1","cwd":"/tmp",`, "", size)
}

func lineDoor(b *bench) ([]row, error) {
	d, err := b.start(spawnHooks("/bin/true"))
	if err != nil {
		return nil, err
	}
	defer d.stop()
	door, err := newLineSender(d.socket)
	if err != nil {
		return nil, err
	}
	defer door.close()
	echo, stop, err := b.echo()
	if err != nil {
		return nil, err
	}
	defer stop()
	s, err := contest(b.rounds, []contender{
		{"hookd", func() (float64, error) { return door.sample(noMatch(lineBytes), b.sample) }},
		{"echo", func() (float64, error) { return echo.sample(noMatch(lineBytes), b.sample) }},
		{"1.2 KB", func() (float64, error) { return door.sample(noMatch(1200), b.sample) }},
	})
	if err != nil {
		return nil, err
	}
	return []row{{
		what: fmt.Sprintf("events accepted and answered per second, no hook matches, one line connection, %d bytes", lineBytes),
		checks: []check{
			atLeast("≥ 2,000,000", 2e6, s.median("hookd"), "%.0f"),
			info("of a bare echo of lines", fmt.Sprintf("%.2f ×", s.ratio("hookd", "echo"))),
		},
		beside: fmt.Sprintf("bare echo %s; lines of 1,200 bytes %s",
			count(s.median("echo")), count(s.median("1.2 KB"))),
	}}, nil
}

// echo starts the bare echo and connects to it.
func (b *bench) echo() (s *lineSender, stop func(), err error) {
	socket, end, err := b.listening("echo")
	if err != nil {
		return nil, nil, err
	}
	if s, err = newLineSender(socket); err != nil {
		end()
		return nil, nil, err
	}
	return s, func() { s.close(); end() }, nil
}

// listening starts a child of this name that listens on a socket.
func (b *bench) listening(name string) (socket string, stop func(), err error) {
	socket = filepath.Join(b.dir, name+".sock")
	path, args, err := self(name, socket)
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { cmd.Process.Kill(); cmd.Wait() }
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		stop()
		return "", nil, err
	}
	return socket, stop, nil
}

// ndjsonBody sends the same lines as the body of one request.
func ndjsonBody(b *bench) ([]row, error) {
	d, err := b.start(nil)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	c, err := d.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	head := "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
	if _, err := c.Write([]byte(head)); err != nil {
		return nil, err
	}
	var answers atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		if r, err := http.ReadResponse(bufio.NewReaderSize(c, 256<<10), nil); err == nil {
			counter(r.Body, &answers)
		}
	})
	each := 64 << 10 / lineBytes
	body := bytes.Repeat(noMatch(lineBytes), each)
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(body), body)
	sample := func() (float64, error) { return stream(c, chunk, each, &answers, b.sample) }
	s, err := contest(b.rounds, []contender{{"hookd", sample}})
	if err != nil {
		return nil, err
	}
	c.Write([]byte("0\r\n\r\n"))
	done.Wait()
	return []row{{
		what:   fmt.Sprintf("the same as an ndjson body over HTTP, %d bytes", lineBytes),
		checks: []check{atLeast("≥ 700,000", 7e5, s.median("hookd"), "%.0f")},
	}}, nil
}
