// Package spawn starts a process, and nothing else: it neither waits for it nor reads
// from it.
//
// A process starts in a session of its own (pid = pgid = sid), with the descriptors 0, 1
// and 2 alone, no signal blocked, every signal that is not ignored at its default, and
// the limit of open files that this program was started with.
// Start returns when the program runs, or with the error of the step that failed; then there
// is no process.
//
// On Linux Start uses clone3, where Go's own fork takes 60 system calls to reset signals and
// a pipe to report errors. The thread that starts is in a system call for Go's scheduler
// until the exec is over: an exec that hangs (a file system that does not answer) holds that
// thread, but no processor, and no garbage collection waits for it. Where clone3 is refused,
// and on macOS, Start acts as Fork does: with Go's fork, for which none of that is true.
package spawn

import (
	"context"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spec is a process to start. Path must be set, the rest may be zero.
type Spec struct {
	Path  string   // the program, absolute; also argv[0]
	Args  []string // argv after argv[0]
	Env   []string // the whole environment; nil is an empty one
	Dir   string   // working directory; "" is the caller's own
	Files [3]int   // what the process has as descriptors 0, 1 and 2; all must be open
	// As is the user that it runs as; nil is the caller's own.
	As *syscall.Credential
	// Cgroup is an open folder of cgroup v2 that the process starts in; 0 is the
	// caller's own cgroup. Linux only.
	Cgroup int
}

// Process is a process that was started. Its parent must reap it.
type Process struct {
	PID   int
	PIDFD int // readable once it has ended; -1 where the system has none. The caller closes it
	// Killed is set when the context has ended before the program had begun, as far as is
	// known: the process has its SIGKILL, but processes that it may have started have not.
	Killed bool
}

// Start starts the process of s. It blocks until the program has begun. When ctx ends
// before that, the process is killed and returned: its program does not begin any more,
// however late its file system answers. An error is a syscall.Errno: EINVAL for a NUL byte
// in a string, else the error of the system.
func Start(ctx context.Context, s *Spec) (Process, error) {
	if Refused() == nil {
		return startClone3(ctx, s)
	}
	return Fork(ctx, s)
}

// Way returns how Start starts processes: "clone3", or "fork: " and why not clone3.
func Way() string {
	if err := Refused(); err != nil {
		return "fork: " + err.Error()
	}
	return "clone3"
}

// Fork starts the process of s as Start does where clone3 is refused. It does not look at
// the context: a process whose exec is not over cannot be killed, its number is not known.
func Fork(_ context.Context, s *Spec) (Process, error) {
	p := Process{PIDFD: -1}
	files := []uintptr{uintptr(s.Files[0]), uintptr(s.Files[1]), uintptr(s.Files[2])}
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files, Sys: forkAttr(s, &p.PIDFD)}
	var err error
	p.PID, err = syscall.ForkExec(s.Path, append([]string{s.Path}, s.Args...), attr)
	return p, err
}

// reap waits for a process that has not become its program.
func reap(p Process) {
	for {
		if _, err := unix.Wait4(p.PID, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	if p.PIDFD >= 0 {
		unix.Close(p.PIDFD)
	}
}
