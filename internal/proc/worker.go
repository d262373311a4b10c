package proc

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/nowait"
)

// Worker is a process that stays, with pipes to its stdin, stdout and stderr. It ends
// on its own, when its stdin is closed, or by Kill; Close must be called after that.
// One goroutine at a time may call Read, one Write or TryWrite; all other methods are
// safe for concurrent use.
type Worker struct {
	Process
	p *process

	stdin, stdout, stderr *os.File
	in, out, err          syscall.RawConn

	mu   sync.Mutex // no kill comes after the reap
	done chan struct{}

	stderrMu sync.Mutex // guards the sink of p.err
}

// StartWorker starts the process of s. It does not use Stdin, Timeout, Latest,
// TermBefore, Whole and Started of s. An error is a *StartError.
func (r *Runner) StartWorker(ctx context.Context, s Spec) (*Worker, error) {
	s = Spec{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir, Looks: s.Looks}
	if err := checkSpec(ctx, &s); err != nil {
		return nil, err
	}
	preread(&s)
	w := &Worker{
		p:    &process{r: r, exited: -1, out: stream{fd: -1}, err: stream{fd: -1}},
		done: make(chan struct{}),
	}
	child, err := w.open()
	defer closeAll(child[:])
	if err == nil {
		err = w.p.spawn(ctx, &s, child)
	}
	if err != nil {
		w.closePipes()
		return nil, explain(&s, err)
	}
	w.Process = Process{PID: w.p.pid, Cgroup: w.p.group.folder(), Start: w.p.exit.Start}
	go w.watch()
	go w.drainStderr()
	return w, nil
}

// open makes the pipes. Our ends do not block, the child's do, as any program
// expects.
func (w *Worker) open() (child [3]int, err error) {
	child = [3]int{-1, -1, -1}
	var in int
	if child[0], in, err = pipe(); err != nil {
		return child, err
	}
	w.p.stdin = linkOf(in)
	if err = unix.SetNonblock(child[0], false); err == nil {
		err = unix.SetNonblock(in, true)
	}
	if w.stdin, w.in, err = file(in, "stdin", err); err != nil {
		return child, err
	}
	if w.p.out.fd, child[1], err = pipe(); err != nil {
		return child, err
	}
	if w.stdout, w.out, err = file(w.p.out.fd, "stdout", nil); err != nil {
		return child, err
	}
	if w.p.err.fd, child[2], err = pipe(); err != nil {
		return child, err
	}
	w.stderr, w.err, err = file(w.p.err.fd, "stderr", nil)
	return child, err
}

// file gives a descriptor that does not block to the runtime's poller.
func file(fd int, name string, err error) (*os.File, syscall.RawConn, error) {
	f := os.NewFile(uintptr(fd), name)
	if err != nil {
		return f, nil, err
	}
	conn, err := f.SyscallConn()
	return f, conn, err
}

// watch waits for the end of the process and reaps it.
func (w *Worker) watch() {
	for w.mu.Lock(); !w.p.reaped; w.mu.Lock() {
		w.mu.Unlock()
		if w.p.exited >= 0 {
			wait([]unix.PollFd{{Fd: int32(w.p.exited), Events: unix.POLLIN}}, time.Time{})
		} else {
			w.p.r.pause(context.Background(), 5*time.Millisecond)
		}
		w.mu.Lock()
		w.reap()
		w.mu.Unlock()
	}
	w.p.exit.Duration = time.Since(w.Start)
	w.mu.Unlock()
	w.p.release()
	close(w.done)
	// From now on a read of an empty pipe is its end, also where a background child
	// holds it open.
	w.stdout.SetReadDeadline(time.Now())
	w.stderr.SetReadDeadline(time.Now())
}

func (w *Worker) reap() {
	if !w.p.reaped {
		w.p.reap()
	}
}

// Done is closed once the process has ended.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Ended reports whether the process has ended.
func (w *Worker) Ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Exit returns how the process has ended, after Done: its code, signal, how it was
// killed and which processes may be left. It has no output.
func (w *Worker) Exit() Exit {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.p.exit
	e.PID, e.Code = w.PID, -1
	if w.p.reaped && w.p.status.Exited() && e.Killed == "" {
		e.Code = w.p.status.ExitStatus()
	}
	if w.p.reaped && w.p.status.Signaled() {
		e.Signal = unix.SignalName(w.p.status.Signal())
	}
	if !w.p.reaped {
		e.Left = max(e.Left, 1)
	}
	return e
}

// Write writes b to stdin. It blocks while the pipe is full, until the process has
// ended or CloseStdin is called.
func (w *Worker) Write(b []byte) error {
	_, err := nowait.Write(w.in, b)
	return err
}

// TryWrite writes as much of b as the pipe has room for, and returns how many bytes
// that were. It does not block.
func (w *Worker) TryWrite(b []byte) (n int, err error) { return nowait.TryWrite(w.in, b) }

// CloseStdin closes stdin. A Write that is under way fails.
func (w *Worker) CloseStdin() { w.stdin.Close() }

// Read reads from stdout, and blocks while there is nothing to read. It returns
// io.EOF when the process has closed its stdout, or has ended and all its output
// was read.
func (w *Worker) Read(b []byte) (int, error) {
	n, ended := 0, false
	read := func(fd uintptr) bool {
		n, ended = tryRead(int(fd), b)
		return n > 0 || ended
	}
	if err := w.out.Read(read); err != nil && n == 0 && !ended { // the deadline that watch sets
		if err := w.out.Control(func(fd uintptr) { read(fd) }); err != nil {
			return 0, io.EOF
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, io.EOF
}

// tryRead is one read that does not block.
func tryRead(fd int, b []byte) (n int, ended bool) {
	s := stream{fd: fd}
	got, ended := s.readOpen(b)
	return len(got), ended
}

// drainStderr reads stderr until its end, in bursts.
func (w *Worker) drainStderr() {
	taken := 0 // bytes of this burst
	for ended := false; !ended; {
		err := w.err.Read(func(fd uintptr) (done bool) {
			for taken < burst {
				var n int
				if n, ended = w.readStderr(int(fd)); n == 0 {
					return ended
				}
				taken += n
			}
			return true
		})
		if err != nil {
			return
		}
		if !ended {
			w.p.r.pause(context.Background(), burstPause)
			taken = 0
		}
	}
}

// readStderr reads one buffer of stderr: 0 bytes when it was empty. ended is true at
// its end.
func (w *Worker) readStderr(fd int) (n int, ended bool) {
	buf := w.p.r.scratch.Get().(*[64 << 10]byte)
	defer w.p.r.scratch.Put(buf)
	w.stderrMu.Lock()
	defer w.stderrMu.Unlock()
	n, ended = tryRead(fd, buf[:])
	w.p.err.add(buf[:n])
	return n, ended
}

// stderrPasses bounds how many buffers Stderr reads: a pipe holds no more by
// default, and a process may write without end.
const stderrPasses = 2

// Stderr returns the bytes that the process has written to stderr since the last call.
func (w *Worker) Stderr() (o Output) {
	w.err.Control(func(fd uintptr) {
		for range stderrPasses {
			if n, _ := w.readStderr(int(fd)); n == 0 {
				return
			}
		}
	})
	w.stderrMu.Lock()
	defer w.stderrMu.Unlock()
	if w.p.err.bytes == 0 {
		return o
	}
	o = w.p.err.output()
	w.p.err.sink = sink{}
	return o
}

// Unblock ends calls of Read and Write that block, now and from now on: Read returns
// the bytes that are there, then io.EOF. It does nothing to the process.
func (w *Worker) Unblock() {
	w.stdin.SetWriteDeadline(time.Now())
	w.stdout.SetReadDeadline(time.Now())
}

// Term sends SIGTERM to the process group.
func (w *Worker) Term() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.p.reaped {
		unix.Kill(-w.PID, unix.SIGTERM)
		unix.Kill(-w.PID, unix.SIGCONT) // a stopped process cannot act on SIGTERM
	}
}

// Kill kills every process that can be found, as Run does at its deadline, and waits
// until the main one is reaped, at most ReapWait. It does nothing once that has
// ended.
func (w *Worker) Kill() {
	w.mu.Lock()
	if w.reap(); !w.p.reaped && w.p.exit.Killed == "" {
		w.p.kill(time.Now())
	}
	w.mu.Unlock()
	stuck := time.NewTimer(ReapWait)
	defer stuck.Stop()
	select {
	case <-w.done:
	case <-stuck.C:
	}
}

// Close closes the pipes. A pipe that a background child of a process that ended on its
// own holds is read until the child closes it.
func (w *Worker) Close() {
	rest := process{r: w.p.r, out: stream{fd: -1}, err: stream{fd: -1}}
	if w.Ended() && w.Exit().Killed == "" {
		rest.out.fd, rest.err.fd = heldOpen(w.out), heldOpen(w.err)
	}
	w.mu.Lock()
	w.p.out.fd, w.p.err.fd = -1, -1 // other files may get these numbers before a late kill
	w.mu.Unlock()
	w.closePipes()
	if rest.out.fd >= 0 || rest.err.fd >= 0 {
		rest.keepDraining(time.Now(), false)
	}
}

// heldOpen returns a duplicate descriptor of a pipe that a process still holds open,
// -1 for any other.
func heldOpen(conn syscall.RawConn) (fd int) {
	fd = -1
	conn.Control(func(own uintptr) {
		var buf [4096]byte
		for total := 0; total < drainLimit; {
			n, ended := tryRead(int(own), buf[:])
			if ended {
				return
			}
			if total += n; n == 0 {
				break
			}
		}
		fd, _ = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 3)
	})
	return fd
}

func (w *Worker) closePipes() {
	for _, f := range []*os.File{w.stdin, w.stdout, w.stderr} {
		if f != nil {
			f.Close()
		}
	}
}
