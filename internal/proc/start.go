package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/spawn"
)

// The start of a busy file (ETXTBSY: a process has it open for writing, often only
// the fork of another thread) is retried busyTries times, first after busyWait,
// then after twice as long each time.
const (
	busyTries = 5
	busyWait  = 2 * time.Millisecond
)

// start starts the process of s with its stdin and its pipes. All that can
// fail comes before the process exists.
func (r *Runner) start(ctx context.Context, s *Spec) (*process, error) {
	if err := checkSpec(ctx, s); err != nil {
		return nil, err
	}
	preread(s)
	if due(s.Latest, time.Now()) {
		message := "start " + s.Path + ": not started: its deadline passed before (slow files, or hookd was stopped)"
		return nil, &StartError{Path: s.Path, Message: message, Err: unix.ETIMEDOUT}
	}
	p := &process{r: r, exited: -1, out: stream{fd: -1}, err: stream{fd: -1}}
	child, err := p.open(ctx, s)
	defer closeAll(child[:])
	if err == nil {
		err = p.spawn(ctx, s, child)
	}
	if err != nil {
		p.out.close()
		p.err.close()
		p.wake.close()
		return nil, explain(s, err)
	}
	return p, nil
}

// checkSpec refuses a start whose context has ended, and values that the system
// would misunderstand.
func checkSpec(ctx context.Context, s *Spec) error {
	if err := ctx.Err(); err != nil {
		return &StartError{Path: s.Path, Message: "start " + s.Path + ": not started: " + err.Error(), Err: err}
	}
	refuse := func(why string) error {
		return &StartError{Path: s.Path, Message: "start " + s.Path + ": " + why, Err: unix.EINVAL}
	}
	if !filepath.IsAbs(s.Path) {
		return refuse("the path is not absolute")
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return refuse("the working directory " + s.Dir + " is not absolute")
	}
	const noNUL = " has a NUL byte in it, which no process can be given"
	for _, a := range append([]string{s.Path, s.Dir}, s.Args...) {
		if strings.ContainsRune(a, 0) {
			return refuse("an argument or the path" + noNUL)
		}
	}
	for _, e := range s.Env {
		if strings.ContainsRune(e, 0) {
			name, _, _ := strings.Cut(e, "=")
			return refuse("the environment variable " + strings.ReplaceAll(name, "\x00", "") + noNUL)
		}
	}
	return nil
}

// open makes stdin and the pipes, and returns the child's ends.
func (p *process) open(ctx context.Context, s *Spec) (child [3]int, err error) {
	child = [3]int{-1, -1, -1}
	if child[0], p.stdin, err = stdinOf(s.Stdin); err != nil {
		return child, err
	}
	if p.out.fd, child[1], err = pipe(); err != nil {
		return child, err
	}
	if p.err.fd, child[2], err = pipe(); err != nil {
		return child, err
	}
	p.out.limit = max(s.Whole, 0)
	p.wake, err = newWaker(ctx)
	return child, err
}

// spawn starts the process, in a cgroup if it gets one, and sets its deadline.
func (p *process) spawn(ctx context.Context, s *Spec, child [3]int) error {
	p.group = p.r.groups.acquire()
	since := p.r.journal.clock()
	pidfd, err := p.exec(ctx, s, child)
	switch {
	case p.group == nil:
	case err == nil:
		p.r.groups.noteStart()
	default:
		group := p.group
		p.group = nil
		if cgroupFault(err) {
			if pidfd, err = p.exec(ctx, s, child); err == nil {
				p.r.groups.discard(group)
				group = nil
			}
		}
		p.r.groups.release(group)
	}
	if err != nil {
		return err
	}
	p.slot = p.r.journal.add(p, since)
	p.exited = watchExit(p.pid, pidfd)
	p.unwaited = p.exited < 0
	if s.Timeout > 0 {
		p.deadline = p.exit.Start.Add(s.Timeout)
	}
	if !s.Latest.IsZero() && (p.deadline.IsZero() || s.Latest.Before(p.deadline)) {
		p.deadline = s.Latest
	}
	if s.TermBefore > 0 && s.TermBefore < s.Timeout {
		p.term = p.deadline.Add(-s.TermBefore)
	}
	return nil
}

// cgroupFault reports whether a start may have failed because of the cgroup
// and not because of the program.
func cgroupFault(err error) bool {
	return err != unix.ETXTBSY && err != unix.ENOEXEC && err != unix.E2BIG && !Short(err)
}

// Short reports whether a start failed because the system, or the user, was out of
// processes, descriptors or memory at that moment. A retry may work a little later.
func Short(err error) bool {
	errno, is := errors.AsType[unix.Errno](err)
	return is && (errno == unix.EAGAIN || errno == unix.ENOMEM || errno == unix.EMFILE || errno == unix.ENFILE)
}

// exec starts the program, and retries while its file is busy.
func (p *process) exec(ctx context.Context, s *Spec, child [3]int) (pidfd int, err error) {
	what := &spawn.Spec{
		Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir,
		Files: child, As: s.As.credential(), Cgroup: p.group.descriptor(),
	}
	wait := busyWait
	for try := 0; ; try++ {
		p.exit.Start = time.Now()
		p.r.starting.Add(1)
		started, err := p.r.spawn(ctx, what)
		p.r.starting.Add(-1)
		p.pid, p.cut = started.PID, started.Killed
		if err == nil {
			p.r.orphans.started(p.pid)
		}
		if err != unix.ETXTBSY || try == busyTries || !p.r.pause(ctx, wait) {
			return started.PIDFD, err
		}
		wait *= 2
	}
}

// credential returns the user that a process runs as; nil is this process's own.
func (u *User) credential() *syscall.Credential {
	if u == nil || os.Geteuid() != 0 && int(u.UID) == os.Geteuid() {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
}

// tempStdin returns data as a file without a name, for systems without memfd.
func tempStdin(data [][]byte) (fd int, link string, err error) {
	f, err := os.CreateTemp("", "hookd-stdin-")
	if err != nil {
		return -1, "", err
	}
	defer f.Close()
	if err = os.Remove(f.Name()); err == nil {
		err = writeAll(f, data)
	}
	if err != nil {
		return -1, "", err
	}
	fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	return fd, f.Name() + " (deleted)", err
}

// writeAll writes the parts without moving the offset that the child reads from.
func writeAll(f *os.File, parts [][]byte) error {
	at := int64(0)
	for _, part := range parts {
		n, err := f.WriteAt(part, at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func size(parts [][]byte) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
