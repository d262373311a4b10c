package proc

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// pipeWait is how long after a kill Run waits for the pipes to close. copyWait is
// how long it waits after a clean exit while another start is under way: until its
// exec that start's child holds our pipes, too. A pipe that is still open after
// that is treated as held by a background child.
//
// listenAfter is how long after its start a process is waited for alone. Most end by
// then, and their output is read once; at the end of a process its pipes close one after
// another, and each would wake Run. A process that writes more than its pipe holds waits
// as long.
const (
	pipeWait    = 20 * time.Millisecond
	copyWait    = time.Millisecond
	listenAfter = 2 * time.Millisecond
)

// process is one run under way. It belongs to the goroutine that called Run.
type process struct {
	r        *Runner
	pid      int
	exited   int     // readable once the process has ended, before it is reaped
	group    *cgroup // nil: none
	slot     int     // in the journal
	wake     *waker  // readable when the context ends; nil: it never does
	stdin    string  // what the process table shows as its descriptor 0
	out, err stream

	term, deadline time.Time // zero: never
	giveUp         time.Time // set by the kill

	status   unix.WaitStatus
	reaped   bool
	cut      bool // killed alone while it started, see spawn.Process
	unwaited bool // no descriptor says when it can be reaped, as when a tracer holds it: ask often
	exit     Exit
}

// Run starts the process of s, waits until it has ended and returns how. When ctx
// ends, the process is killed as at its deadline, with TimedOut false; if that is
// before the start, nothing is started.
func (r *Runner) Run(ctx context.Context, s Spec) Exit {
	p, err := r.start(ctx, &s)
	if err != nil {
		return Exit{Err: err, Code: -1, Start: time.Now()}
	}
	if s.Started != nil {
		s.Started(Process{PID: p.pid, Cgroup: p.group.folder(), Start: p.exit.Start})
	}
	p.watch(ctx)
	return p.finish()
}

// watch reads the output of the process and takes the steps that are due, until the
// process is reaped or a kill has taken ReapWait.
func (p *process) watch(ctx context.Context) {
	defer p.wake.close()
	for !p.reaped {
		now := time.Now()
		next, more := p.act(ctx, now)
		if !more {
			return
		}
		p.poll(now, next)
	}
}

// act takes the steps that are due. It returns when it must be called next (zero: no
// need), and whether there is anything left to wait for.
func (p *process) act(ctx context.Context, now time.Time) (time.Time, bool) {
	switch {
	case p.exit.Killed != "":
		return p.giveUp, now.Before(p.giveUp)
	case due(p.deadline, now), ctx.Err() != nil:
		if !p.cut { // what it has started is to be killed, too
			if p.reap(); p.reaped { // it may have ended just in time
				return time.Time{}, false
			}
		}
		p.exit.TimedOut = due(p.deadline, now)
		p.kill(now)
		return p.giveUp, true
	case due(p.term, now):
		p.exit.Terminated = true
		p.term = time.Time{}
		unix.Kill(-p.pid, unix.SIGTERM)
		unix.Kill(-p.pid, unix.SIGCONT) // a stopped process cannot act on SIGTERM
	}
	if p.term.IsZero() {
		return p.deadline, true
	}
	return p.term, true
}

func due(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// earlier returns the earlier of two times, t if until is zero.
func earlier(until, t time.Time) time.Time {
	if until.IsZero() || t.Before(until) {
		return t
	}
	return until
}

// kill kills every process of the run that can be found, and counts the processes that
// are alive when it gives up. The leader is not reaped before, so that no other process
// group can have its number.
func (p *process) kill(now time.Time) {
	p.giveUp = now.Add(p.r.reapWait)
	if p.group.kill() {
		unix.Kill(-p.pid, unix.SIGKILL) // should the group have left the cgroup
		p.exit.Killed, p.exit.Left = "cgroup", p.group.left(p.giveUp)
		return
	}
	f := newFamily(p.pid, p.stdin, linkOf(p.out.fd), linkOf(p.err.fd))
	defer f.closeHandles()
	p.exit.Killed, p.exit.Left = f.end(p.giveUp)
}

// poll waits until the process ends or, once it is listened to, writes, the context ends,
// or the time is until. It may return earlier.
func (p *process) poll(now, until time.Time) {
	exited, wake, out, err := p.exited, p.wake.descriptor(), p.out.fd, p.err.fd
	if p.exit.Killed != "" {
		wake = -1 // it stays readable
	}
	if p.unwaited {
		exited, until = -1, earlier(until, now.Add(5*time.Millisecond))
	}
	if listen := p.exit.Start.Add(listenAfter); now.Before(listen) {
		out, err, until = -1, -1, earlier(until, listen)
	}
	fds := [...]unix.PollFd{
		{Fd: int32(exited), Events: unix.POLLIN},
		{Fd: int32(out), Events: unix.POLLIN},
		{Fd: int32(err), Events: unix.POLLIN},
		{Fd: int32(wake), Events: unix.POLLIN},
	}
	if err := wait(fds[:], until); err != nil {
		return // EINTR: the caller asks again
	}
	if fds[1].Revents|fds[2].Revents != 0 {
		p.read(fds[1].Revents != 0, fds[2].Revents != 0)
	}
	if fds[0].Revents != 0 || p.unwaited {
		p.reap()
		p.unwaited = !p.reaped
	}
}

// read reads one buffer of each stream that has something.
func (p *process) read(out, err bool) {
	buf := p.r.scratch.Get().(*[64 << 10]byte)
	defer p.r.scratch.Put(buf)
	if out {
		p.out.add(p.out.read(buf[:]))
	}
	if err {
		p.err.add(p.err.read(buf[:]))
	}
}

// reap collects the exit status if the process has ended.
func (p *process) reap() {
	pid, err := wait4(p.pid, &p.status, unix.WNOHANG)
	if err != nil {
		// It was reaped elsewhere (SIGCHLD ignored): it has ended, how is not known.
		p.status = unknownStatus
	}
	if p.reaped = pid == p.pid || err != nil; p.reaped {
		p.r.orphans.reaped(p.pid)
	}
}

// unknownStatus is neither an exit nor a signal.
const unknownStatus = unix.WaitStatus(0x7f)

// wait4 waits for one process, never for any.
func wait4(pid int, status *unix.WaitStatus, options int) (int, error) {
	for {
		n, err := unix.Wait4(pid, status, options, nil)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// finish returns the Exit. It waits only for processes that were killed.
func (p *process) finish() Exit {
	end := time.Now()
	e := &p.exit
	p.drain(e.Killed != "")
	e.PID, e.Code, e.Duration = p.pid, -1, end.Sub(e.Start)
	if p.reaped {
		p.release()
		if p.status.Exited() && e.Killed == "" {
			e.Code = p.status.ExitStatus()
		}
		if p.status.Signaled() {
			e.Signal = unix.SignalName(p.status.Signal())
		}
	} else {
		e.Left = max(e.Left, 1)
		go p.reapLater()
	}
	e.Stdout, e.Stderr = p.out.output(), p.err.output()
	e.Whole, e.WholeExceeded = p.out.whole, p.out.limit > 0 && p.out.bytes > int64(p.out.limit)
	if p.out.fd >= 0 || p.err.fd >= 0 {
		if e.Killed != "" {
			e.Left = max(e.Left, 1) // a process still holds a pipe
		}
		e.Late = p.keepDraining(end, e.Killed != "")
	}
	return *e
}

// drain reads the bytes in the pipes. It waits up to pipeWait for killed processes to
// close them, so that a pipe that is still open means a survivor, and up to copyWait
// for starts under way, whose children hold our descriptors until exec.
func (p *process) drain(killed bool) {
	buf := p.r.scratch.Get().(*[64 << 10]byte)
	defer p.r.scratch.Put(buf)
	p.out.drain(buf[:])
	p.err.drain(buf[:])
	patience := copyWait
	if killed {
		patience = pipeWait
	}
	until := time.Now().Add(patience)
	for (p.out.fd >= 0 || p.err.fd >= 0) && (killed || p.r.starting.Load() > 0) && time.Now().Before(until) {
		wait([]unix.PollFd{
			{Fd: int32(p.out.fd), Events: unix.POLLIN},
			{Fd: int32(p.err.fd), Events: unix.POLLIN},
		}, until)
		p.out.drain(buf[:])
		p.err.drain(buf[:])
	}
}

// reapLater waits for a process that SIGKILL did not end in time.
func (p *process) reapLater() {
	wait4(p.pid, &p.status, 0)
	p.r.orphans.reaped(p.pid)
	p.release()
}

// release frees the resources that only a process that is not reaped needs.
func (p *process) release() {
	closeAll([]int{p.exited})
	p.r.journal.remove(p.slot)
	p.r.groups.release(p.group)
}
