//go:build linux && (amd64 || arm64)

package spawn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/spawn/filelimit"
)

// Refused returns why Start does not use clone3; nil = it does. It is found out once, by
// a child that ends at once.
func Refused() error { return refused() }

var refused = sync.OnceValue(func() error {
	c := children.Get().(*child)
	defer children.Put(c)
	c.reset(0)
	c.add(unix.SYS_EXIT_GROUP, 0)
	p, err := c.run()
	if err != nil {
		return fmt.Errorf("clone3 is refused: %w", err)
	}
	reap(p)
	return nil
})

// startClone3 is Start with clone3.
func startClone3(ctx context.Context, s *Spec) (Process, error) {
	c := children.Get().(*child)
	defer children.Put(c)
	files, lifted, err := lift(s.Files)
	defer closeAll(lifted)
	if err == nil {
		err = c.prepare(s, files)
	}
	if err != nil {
		return Process{PIDFD: -1}, err
	}
	stop := c.killAfter(ctx)
	p, err := c.run()
	p.Killed = stop()
	if err == nil && c.failed != 0 {
		reap(p)
		p, err = Process{PIDFD: -1}, syscall.Errno(c.failed)
	}
	return p, err
}

// child is a process from clone3 to its exec. It shares the memory of this one, and the
// thread that made it stands still meanwhile. It has no stack, so it executes a list of
// system calls that was made before, in a loop that needs registers alone.
type child struct {
	clone  cloneArgs
	result int    // of clone3: the pid, or the error as a negative number
	failed int    // the error of the step that failed, written by the child
	all    uint64 // the mask of all signals
	//lint:ignore U1000 vfork keeps the thread's own mask here
	mask    uint64
	steps   [maxSteps]step
	n       int
	pidfd   int32
	limit   filelimit.Limit
	empty   uint64    // the mask without a signal
	text    []byte    // what the pointers point to: strings that end in NUL
	vectors []uintptr // argv and envp, each with a nil at its end
	groups  []uint32
}

// cloneArgs is struct clone_args in its first version, clone(2); members without a name
// stay 0.
type cloneArgs struct {
	flags, pidfd, _, _, exitSignal, _, _, _, _, _, cgroup uint64
}

// step is one system call of a child. If it fails, the child ends, unless that is
// tolerated.
type step struct {
	number    uintptr
	args      [4]uintptr
	tolerated uintptr
}

// maxSteps is at least the number of steps that prepare adds.
const maxSteps = 14

// children are used again. One is always on the heap: it must not move.
var children = sync.Pool{New: func() any { return &child{all: 1<<64 - 1} }}

const cloneFlags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | unix.CLONE_CLEAR_SIGHAND

// reset empties the list.
func (c *child) reset(cgroup int) {
	c.clone = cloneArgs{
		flags: cloneFlags, pidfd: uint64(uintptr(unsafe.Pointer(&c.pidfd))), exitSignal: uint64(unix.SIGCHLD),
	}
	if cgroup != 0 {
		c.clone.flags |= unix.CLONE_INTO_CGROUP
		c.clone.cgroup = uint64(cgroup)
	}
	c.result, c.failed, c.n, c.pidfd = 0, 0, 0, -1
}

// add adds a step. The memory that its arguments point to must not move, and must be
// kept until the child has run.
func (c *child) add(number uintptr, args ...uintptr) *step {
	s := &c.steps[c.n]
	c.n++
	*s = step{number: number}
	copy(s.args[:], args)
	return s
}

// prepare makes the list of s, in the order of Go's own fork.
func (c *child) prepare(s *Spec, files [3]int) error {
	c.reset(s.Cgroup)
	if err := c.strings(s); err != nil {
		return err
	}
	c.add(unix.SYS_SETSID)
	c.add(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&c.empty)), 0, unsafe.Sizeof(c.empty))
	if u := s.As; u != nil {
		c.groups = append(c.groups[:0], u.Groups...)
		c.add(unix.SYS_SETGROUPS, uintptr(len(c.groups)), uintptr(unsafe.Pointer(unsafe.SliceData(c.groups))))
		c.add(unix.SYS_SETGID, uintptr(u.Gid))
		c.add(unix.SYS_SETUID, uintptr(u.Uid))
	}
	if s.Dir != "" {
		c.add(unix.SYS_CHDIR, c.dir())
	}
	for i, fd := range files {
		c.add(unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	// Without close_range (before Linux 5.9) the exec closes them, but an exec that hangs
	// does so holding the pipes of other processes.
	c.add(unix.SYS_CLOSE_RANGE, 3, lastDescriptor, 0).tolerated = 1
	if limit, raised := filelimit.Raised(); raised {
		c.limit = limit
		c.add(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&c.limit)), 0).tolerated = 1
	}
	argv := c.vectors
	envp := c.vectors[len(s.Args)+2:]
	c.add(unix.SYS_EXECVE, argv[0], address(argv), address(envp))
	return nil
}

// strings copies all strings of s into text and points vectors at them: the path and the
// arguments, the environment, the directory.
func (c *child) strings(s *Spec) error {
	c.text = slices.Grow(c.text[:0], size(s)) // it must not move any more
	c.vectors = slices.Grow(c.vectors[:0], len(s.Args)+len(s.Env)+4)
	whole := c.point(s.Path)
	for _, a := range s.Args {
		whole = c.point(a) && whole
	}
	c.vectors = append(c.vectors, 0)
	for _, v := range s.Env {
		whole = c.point(v) && whole
	}
	c.vectors = append(c.vectors, 0)
	if whole = c.point(s.Dir) && whole; !whole {
		return syscall.EINVAL
	}
	return nil
}

// point adds one string, and reports whether it has no NUL byte.
func (c *child) point(s string) bool {
	at := len(c.text)
	c.text = append(append(c.text, s...), 0)
	c.vectors = append(c.vectors, uintptr(unsafe.Pointer(&c.text[at])))
	return strings.IndexByte(s, 0) < 0
}

// dir is the address of the directory, which is the last string.
func (c *child) dir() uintptr { return c.vectors[len(c.vectors)-1] }

func address(list []uintptr) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(list))) }

// size is the number of bytes that the strings of s take with the NUL at the end of
// each.
func size(s *Spec) int {
	n := len(s.Path) + len(s.Dir) + 2
	for _, list := range [][]string{s.Args, s.Env} {
		for _, text := range list {
			n += len(text) + 1
		}
	}
	return n
}

// lift returns the descriptors with a copy of each that is 0, 1 or 2, which the child
// would replace while it still needs them. The copies are to be closed.
func lift(files [3]int) (high [3]int, copies []int, err error) {
	for i, fd := range files {
		if fd <= 2 {
			if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3); err != nil {
				return files, copies, err
			}
			copies = append(copies, fd)
		}
		high[i] = fd
	}
	return high, copies, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// killAfter kills the child when ctx ends, until stop, which reports whether it was killed.
func (c *child) killAfter(ctx context.Context) (stop func() (killed bool)) {
	k := &struct {
		over   atomic.Bool
		done   sync.WaitGroup
		killed bool
	}{}
	k.done.Add(1)
	unused := context.AfterFunc(ctx, func() {
		defer k.done.Done()
		for !k.killed && !k.over.Load() {
			if k.killed = c.kill(); !k.killed {
				time.Sleep(time.Millisecond)
			}
		}
	})
	return func() bool {
		if unused() {
			return false
		}
		k.over.Store(true)
		k.done.Wait()
		return k.killed
	}
}

// kill kills the child, if there is one yet.
func (c *child) kill() bool {
	fd := atomic.LoadInt32(&c.pidfd)
	return fd >= 0 && unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) == nil
}

// run makes the child and waits until it has begun its program, or ended.
func (c *child) run() (Process, error) {
	c.wait()
	if c.result < 0 {
		return Process{PIDFD: -1}, syscall.Errno(-c.result)
	}
	return Process{PID: c.result, PIDFD: int(c.pidfd)}, nil
}

// wait is run for Go's scheduler: a system call, as package syscall makes them. Nothing
// in it may grow the stack.
//
//go:nosplit
//go:norace
//go:noinline
func (c *child) wait() {
	entersyscall()
	vfork(c)
	exitsyscall()
}

// These two are not part of Go's promise of compatibility, but kept for gVisor, see
// go.dev/issue/67401.
//
//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// vfork blocks all signals of the thread, so that none is handed to it while it stands
// still; calls clone3; has the child take the steps; and puts the mask back. It sets
// result. The child writes failed.
//
//go:noescape
func vfork(c *child)
