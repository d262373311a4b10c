package proc

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/nowait"
)

// Kept is a process that is kept, with pipes to talk to it. It ends by itself,
// when its stdin is closed, or by Kill; whoever keeps it calls Close after
// that. Read belongs to one goroutine at a time, Write and Offer to another; all
// other methods may be called by any.
type Kept struct {
	Process
	p *process

	stdin, stdout, stderr *os.File
	in, out, err          syscall.RawConn

	mu   sync.Mutex // makes a kill come before the reap or not at all
	done chan struct{}

	said sync.Mutex // guards the sink of p.err
}

// Keep starts the process of s and keeps it. Stdin, Timeout, Latest, TermBefore,
// Whole and Started of s are not used. An error is a *StartError.
func (r *Runner) Keep(ctx context.Context, s Spec) (*Kept, error) {
	s = Spec{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir, Looks: s.Looks}
	if err := checkSpec(ctx, &s); err != nil {
		return nil, err
	}
	touch(&s)
	k := &Kept{
		p:    &process{r: r, exited: -1, out: stream{fd: -1}, err: stream{fd: -1}},
		done: make(chan struct{}),
	}
	child, err := k.open()
	defer closeAll(child[:])
	if err == nil {
		err = k.p.spawn(ctx, &s, child)
	}
	if err != nil {
		k.closePipes()
		return nil, explain(&s, err)
	}
	k.Process = Process{PID: k.p.pid, Cgroup: k.p.group.folder(), Start: k.p.exit.Start}
	go k.watch()
	go k.listen()
	return k, nil
}

// open makes the pipes. Our ends never block a thread, the child's are as any
// program expects them.
func (k *Kept) open() (child [3]int, err error) {
	child = [3]int{-1, -1, -1}
	var in int
	if child[0], in, err = pipe(); err != nil {
		return child, err
	}
	k.p.stdin = linkOf(in)
	if err = unix.SetNonblock(child[0], false); err == nil {
		err = unix.SetNonblock(in, true)
	}
	if k.stdin, k.in, err = file(in, "stdin", err); err != nil {
		return child, err
	}
	if k.p.out.fd, child[1], err = pipe(); err != nil {
		return child, err
	}
	if k.stdout, k.out, err = file(k.p.out.fd, "stdout", nil); err != nil {
		return child, err
	}
	if k.p.err.fd, child[2], err = pipe(); err != nil {
		return child, err
	}
	k.stderr, k.err, err = file(k.p.err.fd, "stderr", nil)
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
func (k *Kept) watch() {
	for k.mu.Lock(); !k.p.reaped; k.mu.Lock() {
		k.mu.Unlock()
		if k.p.exited >= 0 {
			wait([]unix.PollFd{{Fd: int32(k.p.exited), Events: unix.POLLIN}}, time.Time{})
		} else {
			k.p.r.pause(context.Background(), 5*time.Millisecond)
		}
		k.mu.Lock()
		k.reap()
		k.mu.Unlock()
	}
	k.p.exit.Duration = time.Since(k.Start)
	k.mu.Unlock()
	k.p.release()
	close(k.done)
	// Whoever reads is to stop when the pipe is empty, also where a background
	// child holds it open.
	k.stdout.SetReadDeadline(time.Now())
	k.stderr.SetReadDeadline(time.Now())
}

func (k *Kept) reap() {
	if !k.p.reaped {
		k.p.reap()
	}
}

// Done is closed once the process has ended.
func (k *Kept) Done() <-chan struct{} { return k.done }

// Ended reports whether the process has ended.
func (k *Kept) Ended() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// Exit says how the process has ended, after Done: its code, signal, how it
// was killed and what may be left. It has no output.
func (k *Kept) Exit() Exit {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.p.exit
	e.PID, e.Code = k.PID, -1
	if k.p.reaped && k.p.status.Exited() && e.Killed == "" {
		e.Code = k.p.status.ExitStatus()
	}
	if k.p.reaped && k.p.status.Signaled() {
		e.Signal = unix.SignalName(k.p.status.Signal())
	}
	if !k.p.reaped {
		e.Left = max(e.Left, 1)
	}
	return e
}

// Write gives b to the process. It blocks its caller while the pipe is full,
// until the process has ended or CloseStdin.
func (k *Kept) Write(b []byte) error {
	_, err := nowait.Write(k.in, b)
	return err
}

// Offer gives the process as much of b as its pipe has room for now, and returns
// how much that was. It is a Write that does not wait.
func (k *Kept) Offer(b []byte) (n int, err error) { return nowait.Offer(k.in, b) }

// CloseStdin tells the process that nothing more comes. A Write that is under
// way fails.
func (k *Kept) CloseStdin() { k.stdin.Close() }

// Read takes what is there of stdout, and blocks while that is nothing. It
// returns io.EOF when the process has closed its stdout, or has ended and all
// that it wrote was read.
func (k *Kept) Read(b []byte) (int, error) {
	n, ended := 0, false
	take := func(fd uintptr) bool {
		n, ended = take(int(fd), b)
		return n > 0 || ended
	}
	if err := k.out.Read(take); err != nil && n == 0 && !ended { // the deadline that watch sets
		if err := k.out.Control(func(fd uintptr) { take(fd) }); err != nil {
			return 0, io.EOF
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, io.EOF
}

// take is one read that does not block.
func take(fd int, b []byte) (n int, ended bool) {
	s := stream{fd: fd}
	got, ended := s.readOpen(b)
	return len(got), ended
}

// listen takes what the process writes to stderr, until it has ended.
func (k *Kept) listen() {
	for ended := false; !ended; {
		err := k.err.Read(func(fd uintptr) bool {
			for range burst / (64 << 10) {
				var more bool
				if more, ended = k.hear(int(fd)); !more {
					return ended
				}
			}
			return true
		})
		if err != nil {
			return
		}
		if !ended {
			k.p.r.pause(context.Background(), burstPause)
		}
	}
}

// hear takes one buffer of stderr. Without more, there is nothing now, or
// nothing ever again.
func (k *Kept) hear(fd int) (more, ended bool) {
	buf := k.p.r.scratch.Get().(*[64 << 10]byte)
	defer k.p.r.scratch.Put(buf)
	k.said.Lock()
	defer k.said.Unlock()
	n, ended := take(fd, buf[:])
	k.p.err.add(buf[:n])
	return n > 0, ended
}

// stderrPasses bounds how long Stderr reads: a pipe holds no more by default,
// and who writes without end is not waited for.
const stderrPasses = 2

// Stderr returns what the process has written to stderr since the last call.
func (k *Kept) Stderr() (o Output) {
	k.err.Control(func(fd uintptr) {
		for range stderrPasses {
			if more, _ := k.hear(int(fd)); !more {
				return
			}
		}
	})
	k.said.Lock()
	defer k.said.Unlock()
	if k.p.err.bytes == 0 {
		return o
	}
	o = k.p.err.output()
	k.p.err.sink = sink{}
	return o
}

// Interrupt lets go of whoever is in Read or Write, and of all who come later:
// Read gives what is there, then io.EOF. It does nothing to the process.
func (k *Kept) Interrupt() {
	k.stdin.SetWriteDeadline(time.Now())
	k.stdout.SetReadDeadline(time.Now())
}

// Term sends SIGTERM to the process group.
func (k *Kept) Term() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.p.reaped {
		unix.Kill(-k.PID, unix.SIGTERM)
		unix.Kill(-k.PID, unix.SIGCONT) // a stopped process cannot act on SIGTERM
	}
}

// Kill ends every process that can be found, as Run does at its deadline, and
// waits until the main one is reaped, at most ReapWait. It does nothing once
// that has ended.
func (k *Kept) Kill() {
	k.mu.Lock()
	if k.reap(); !k.p.reaped && k.p.exit.Killed == "" {
		k.p.kill(time.Now())
	}
	k.mu.Unlock()
	stuck := time.NewTimer(ReapWait)
	defer stuck.Stop()
	select {
	case <-k.done:
	case <-stuck.C:
	}
}

// Close gives the pipes back. Where a background child of a process that ended
// by itself holds one, it is read until the child lets go.
func (k *Kept) Close() {
	rest := process{r: k.p.r, out: stream{fd: -1}, err: stream{fd: -1}}
	if k.Ended() && k.Exit().Killed == "" {
		rest.out.fd, rest.err.fd = held(k.out), held(k.err)
	}
	k.mu.Lock()
	k.p.out.fd, k.p.err.fd = -1, -1 // a late kill is not to take them for others'
	k.mu.Unlock()
	k.closePipes()
	if rest.out.fd >= 0 || rest.err.fd >= 0 {
		rest.keepDraining(time.Now(), false)
	}
}

// held returns a descriptor of its own for a pipe that somebody can still write
// to, -1 for any other.
func held(conn syscall.RawConn) (fd int) {
	fd = -1
	conn.Control(func(own uintptr) {
		var buf [4096]byte
		for taken := 0; taken < drainLimit; {
			n, ended := take(int(own), buf[:])
			if ended {
				return
			}
			if taken += n; n == 0 {
				break
			}
		}
		fd, _ = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 3)
	})
	return fd
}

func (k *Kept) closePipes() {
	for _, f := range []*os.File{k.stdin, k.stdout, k.stderr} {
		if f != nil {
			f.Close()
		}
	}
}
