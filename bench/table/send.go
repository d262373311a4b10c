package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
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

// stream sends batches of lines to w for the time of one sample, while another
// goroutine counts the answers, and returns the answers per second. At most ahead
// lines are unanswered.
func stream(w io.Writer, lines []byte, each int, answers *atomic.Int64, sample time.Duration) (float64, error) {
	const ahead = 64 << 10
	begin, sent, first := time.Now(), int64(0), answers.Load()
	for time.Since(begin) < sample {
		if sent-(answers.Load()-first) > ahead {
			time.Sleep(50 * time.Microsecond)
			continue
		}
		if _, err := w.Write(lines); err != nil {
			return 0, err
		}
		sent += int64(each)
	}
	for begin := time.Now(); answers.Load()-first < sent; time.Sleep(50 * time.Microsecond) {
		if time.Since(begin) > patience {
			return 0, fmt.Errorf("%d of %d lines are answered", answers.Load()-first, sent)
		}
	}
	return float64(sent) / time.Since(begin).Seconds(), nil
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

// lineSender is a connection of a line door and the counters of its answers.
type lineSender struct {
	conn    net.Conn
	answers atomic.Int64
	done    sync.WaitGroup
}

func newLineSender(socket string) (*lineSender, error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	s := &lineSender{conn: c}
	s.done.Go(func() { counter(c, &s.answers) })
	return s, nil
}

// sample sends copies of line for one sample and returns answers per second.
func (s *lineSender) sample(line []byte, d time.Duration) (float64, error) {
	each := max(1, 64<<10/len(line))
	return stream(s.conn, bytes.Repeat(line, each), each, &s.answers, d)
}

func (s *lineSender) close() {
	s.conn.Close()
	s.done.Wait()
}
