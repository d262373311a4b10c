package proc

import (
	"context"
	"os"
	"sync"
	"time"
)

// Output that no run waits for is read in bursts of so many bytes, with a pause
// after each, however long it took: a process that writes without end gets some
// 20 MiB a second and costs hookd next to nothing. A burst does not end where the
// pipe is empty: it often is, when the writer is no faster than the reader.
const (
	burst      = 1 << 20
	burstPause = 50 * time.Millisecond
)

// late reads the pipes that background children hold after the process has ended:
// until LateWindow is over for the run's output, then only so that a writer neither
// blocks nor gets SIGPIPE. Its goroutines sleep in the runtime's poller, have no
// buffer while they do, and end with the last writer.
type late struct {
	r      *Runner
	until  time.Time
	closed chan struct{} // closed when no process holds a pipe any more

	mu       sync.Mutex // guards what is below
	out, err stream
	open     int
}

// keepDraining reads the pipes that are still open from now on, and returns
// Exit.Late. After a kill it closes them at the end of LateWindow.
func (p *process) keepDraining(end time.Time, killed bool) func() (stdout, stderr Output) {
	l := &late{r: p.r, until: end.Add(LateWindow), closed: make(chan struct{}), out: p.out, err: p.err}
	l.out.limit, l.out.whole = 0, nil // Exit.Whole ends with the process
	var held []*stream
	for _, s := range []*stream{&l.out, &l.err} {
		if s.fd >= 0 {
			held = append(held, s)
		}
	}
	l.open = len(held)
	for _, s := range held {
		go l.follow(s, killed)
	}
	return l.outputs
}

// follow reads s until its last writer has closed it.
func (l *late) follow(s *stream, killed bool) {
	f := os.NewFile(uintptr(s.fd), "output")
	defer l.end(f)
	if killed {
		f.SetReadDeadline(l.until)
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	taken := 0 // bytes of this burst
	for ended := false; !ended; {
		err := conn.Read(func(uintptr) (done bool) {
			var n int
			n, ended = l.read(s, burst-taken)
			taken += n
			return ended || taken >= burst
		})
		if err != nil {
			return
		}
		if !ended {
			l.r.pause(context.Background(), burstPause)
			taken = 0
		}
	}
}

// read reads the bytes that are there, most bytes or a little more at the most.
func (l *late) read(s *stream, most int) (taken int, ended bool) {
	buf := l.r.scratch.Get().(*[64 << 10]byte)
	defer l.r.scratch.Put(buf)
	for taken < most {
		b, ended := s.readOpen(buf[:])
		if len(b) == 0 {
			return taken, ended
		}
		taken += len(b)
		l.mu.Lock()
		if time.Now().Before(l.until) {
			s.add(b)
		}
		l.mu.Unlock()
	}
	return taken, false
}

// end closes a pipe, and after the last one closes l.closed.
func (l *late) end(f *os.File) {
	f.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == 0 {
		close(l.closed)
	}
}

// outputs is Exit.Late.
func (l *late) outputs() (stdout, stderr Output) {
	window := time.NewTimer(time.Until(l.until))
	defer window.Stop()
	select {
	case <-l.closed:
	case <-window.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.output(), l.err.output()
}
