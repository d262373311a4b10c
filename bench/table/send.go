package main

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
)

// flood sends n copies of line over some connections as fast as their answers
// come, and returns when all are answered.
func (d *daemon) flood(conns, n int, line []byte) error {
	errs := make(chan error, conns)
	for i := range conns {
		share := n / conns
		if i < n%conns {
			share++
		}
		go func() { errs <- d.send(share, line) }()
	}
	var failed error
	for range conns {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return failed
}

// send sends n copies of line over one connection.
func (d *daemon) send(n int, line []byte) error {
	if n == 0 {
		return nil
	}
	c, err := d.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	answered := make(chan error, 1)
	go func() { _, err := countAnswers(c, n); answered <- err }()
	batch := bytes.Repeat(line, max(1, min(n, 64<<10/len(line))))
	for left := n * len(line); left > 0; {
		written, err := c.Write(batch[:min(left, len(batch))])
		if err != nil {
			return err
		}
		left -= written
	}
	return <-answered
}

// countAnswers reads n lines; any that is a refusal is an error.
func countAnswers(r io.Reader, n int) (int, error) {
	buf := make([]byte, 256<<10)
	tail := 0 // of a refusal that is split over two reads
	for got := 0; got < n; {
		read, err := r.Read(buf[tail:])
		if err != nil {
			return got, fmt.Errorf("%d of %d lines are answered: %w", got, n, err)
		}
		fresh := buf[:tail+read]
		if i := bytes.Index(fresh, []byte(`"ok":false`)); i >= 0 {
			return got, fmt.Errorf("refused: %.300s", fresh[i:])
		}
		got += bytes.Count(fresh[tail:], []byte{'\n'})
		tail = copy(buf, fresh[max(0, len(fresh)-10):])
	}
	return n, nil
}

// counter counts the lines that r delivers until it ends.
func counter(r io.Reader, lines *atomic.Int64) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		lines.Add(int64(bytes.Count(buf[:n], []byte{'\n'})))
		if err != nil {
			return err
		}
	}
}
