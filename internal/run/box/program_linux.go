//lint:file-ignore U1000 clone_linux_*.s calls first and second
package box

import (
	"syscall"
	"unsafe"

	"github.com/hookd/hookd/internal/base/spawn/filelimit"
)

// The child of a box runs between clone and exec in the memory of this process, on a stack of its own: a copy
// of the memory would take as long as the box. Nothing of Go's runtime may be used there: no allocation, no
// growing stack, no preemption, no signal, nothing that the race detector watches. So the parent writes down every
// system call beforehand, and the child only makes them.

// op is one system call of the child.
type op struct {
	trap uintptr
	args [6]uintptr
	put  int8          // register for the result, from 1; 0 = the result is not needed
	get  [2]int8       // register that an argument comes from, and the argument's place from 1; 0 = none
	may  syscall.Errno // an error that is no failure; 0 = each is one
	any  bool          // no error is a failure
}

const registers = 4

// program is all that the child does.
type program struct {
	ops   []op
	says  []string // what each op is for, for people
	holds []any    // memory that arguments point to
	open  []int    // descriptors to close when the box has ended
	from  int      // descriptor that the listener of the proxy comes from
	to    int      // its other end, of the child; -1 = none
	tells int      // descriptor that the child's report comes from

	supervisor *supervisor // of a box by Landlock; nil = there is none

	flags    uintptr // of clone, without the signal
	reaper   bool    // the child is the first process of its own pid namespace
	confined         // of a box by Landlock
	name     string  // of the file that path names, for people
	report   uintptr // pipe for the first failure, or the exit code
	argv     uintptr // with envp as the system takes it
	envp     uintptr
	path     uintptr
	cwd      uintptr
	limit    filelimit.Limit
	limited  bool
	mask     uint64 // of signals, as this process was started with
	all      uint64
	held     uint64 // signals that wait in this process once the child has begun
	after    uint64
	info     [128]byte
	stacks   [2]uintptr // tops of those of the child, and of the program that it starts
	reg      [registers + 1]uintptr
	failed   [2]uint32 // index of the op, and its error
	status   uint32
}

// Failures outside the ops, as indexes.
const (
	failedFork = 1<<16 + iota
	failedCwd
	failedExec
)

func (p *program) do(says string, trap uintptr, args ...uintptr) *op {
	o := op{trap: trap}
	copy(o.args[:], args)
	p.ops, p.says = append(p.ops, o), append(p.says, says)
	return &p.ops[len(p.ops)-1]
}

// text returns a C string that lives as long as the program.
func (p *program) text(s string) uintptr {
	b := append([]byte(s), 0)
	p.holds = append(p.holds, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// texts returns a list of C strings, which a zero ends, that lives as long as the program.
func (p *program) texts(list []string) uintptr {
	at := make([]uintptr, len(list)+1)
	for i, s := range list {
		at[i] = p.text(s)
	}
	p.holds = append(p.holds, at)
	return uintptr(unsafe.Pointer(&at[0]))
}

// bytes returns memory that lives as long as the program.
func (p *program) bytes(b []byte) uintptr {
	if len(b) == 0 {
		b = []byte{0}
	}
	p.holds = append(p.holds, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

const (
	sysOpenTree        = 428
	sysMoveMount       = 429
	sysMountSetattr    = 442
	sysCloseRange      = 436
	sysLandlockCreate  = 444
	sysLandlockAdd     = 445
	sysLandlockEnforce = 446

	sigSetSize = 8
	setMask    = 2 // SIG_SETMASK
)

// start clones the child and returns its process id. The child ends with this thread.
func (p *program) start() (pid int, err error) {
	p.limit, p.limited = filelimit.Raised()
	for i := range p.stacks {
		p.stacks[i] = p.bytes(make([]byte, stackSize)) + stackSize
	}
	if !p.reaper { // it executes at once; until then this thread has to wait
		p.flags |= syscall.CLONE_VFORK
	}
	if pid = p.clone(); pid < 0 {
		return 0, syscall.Errno(-pid)
	}
	return pid, nil
}

const (
	stackSize = 16 << 10
	stackRoom = 64 // above the stack, for the argument
)

func rawClone(flags, stack uintptr, p *program, inner uintptr) (pid int)

//go:nosplit
//go:norace
//go:noinline
func (p *program) clone() int {
	p.all = ^uint64(0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask,
		uintptr(unsafe.Pointer(&p.all)), uintptr(unsafe.Pointer(&p.mask)), sigSetSize, 0, 0)
	pid := rawClone(p.flags|share|syscall.CLONE_PARENT_SETTID|uintptr(syscall.SIGCHLD), p.stack(0), p, 0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&p.mask)), 0, sigSetSize, 0, 0)
	return pid
}

// stack is where the stack i begins, from its end. The child calls it, too.
//
//go:nosplit
//go:norace
func (p *program) stack(i int) uintptr { return (p.stacks[i&1] - stackRoom) &^ 15 }

// first is where the child begins, second where the program that it starts does.
//
//go:nosplit
//go:norace
func first(p *program) { p.child() }

//go:nosplit
//go:norace
func second(p *program) { p.exec() }

// child makes the system calls and executes the program. It never returns.
//
//go:nosplit
//go:norace
func (p *program) child() {
	if p.rules > 0 {
		p.confine()
		p.exec()
	}
	ops := p.ops // so that no index of it has to be looked at
	for i := range ops {
		o := &ops[i]
		if o.get[0] > 0 {
			o.args[(o.get[1]-1)&3] = p.reg[o.get[0]&3]
		}
		r, _, errno := syscall.RawSyscall6(o.trap, o.args[0], o.args[1], o.args[2], o.args[3], o.args[4], o.args[5])
		if errno != 0 && !o.any && (o.may == 0 || errno != o.may) {
			p.fail(uint32(i), errno)
		}
		if o.put > 0 {
			p.reg[o.put&3] = r
		}
	}
	// Nothing in the box may look into this process, or write to it: its memory is that of the wrapper.
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
	if errno != 0 {
		p.fail(failedFork, errno)
	}
	pid := rawClone(syscall.CLONE_VM|syscall.CLONE_VFORK|uintptr(syscall.SIGCHLD), p.stack(1), p, 1)
	if pid < 0 {
		p.fail(failedFork, syscall.Errno(-pid))
	}
	p.reap(uintptr(pid))
}

//go:nosplit
//go:norace
func (p *program) exec() {
	if p.limited {
		syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&p.limit)), 0, 0, 0)
	}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_CHDIR, p.cwd, 0, 0, 0, 0, 0)
	if errno != 0 {
		p.fail(failedCwd, errno)
	}
	p.unhandle()
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&p.mask)), 0, sigSetSize, 0, 0)
	_, _, errno = syscall.RawSyscall6(syscall.SYS_EXECVE, p.path, p.argv, p.envp, 0, 0, 0)
	p.fail(failedExec, errno)
}

// unhandle takes Go's handlers from signals, as exec does: a signal before exec would run Go's code here.
//
//go:nosplit
//go:norace
func (p *program) unhandle() {
	const lastSignal, handled = 64, 1 // SIG_IGN is 1
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		action := (*[4]uintptr)(unsafe.Pointer(&p.info))
		*action = [4]uintptr{}
		at := uintptr(unsafe.Pointer(action))
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, 0, at, sigSetSize, 0, 0)
		if action[0] > handled {
			*action = [4]uintptr{}
			syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, at, 0, sigSetSize, 0, 0)
		}
	}
}

// fail reports a failure and ends the child.
//
//go:nosplit
//go:norace
func (p *program) fail(what uint32, errno syscall.Errno) {
	p.failed[0], p.failed[1] = what, uint32(errno)
	syscall.RawSyscall6(syscall.SYS_WRITE, p.report, uintptr(unsafe.Pointer(&p.failed)), 8, 0, 0, 0)
	for {
		syscall.RawSyscall6(syscall.SYS_EXIT_GROUP, exitFailed, 0, 0, 0, 0, 0)
	}
}

const sizeOfStatus = 4 // of a report, which is twice as long when it is of a failure

// Members of struct siginfo, by their place in 32-bit words.
const (
	infoCode = 2
	infoPID  = 4

	fromUser = 0 // SI_USER
)

// reap is the first process of the pid namespace: it collects the ends of all others, hands on
// signals that come from outside, and ends with main, and all others with it. When they have, it says so.
//
//go:nosplit
//go:norace
func (p *program) reap(main uintptr) {
	info := (*[32]int32)(unsafe.Pointer(&p.info))
	for {
		sig, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&p.all)),
			uintptr(unsafe.Pointer(&p.info)), 0, sigSetSize, 0, 0)
		if errno != 0 {
			continue
		}
		if sig != uintptr(syscall.SIGCHLD) {
			if info[infoCode] == fromUser && info[infoPID] == 0 { // no process of the box has the number 0
				syscall.RawSyscall6(syscall.SYS_KILL, main, sig, 0, 0, 0, 0)
			}
			continue
		}
		for {
			pid, _, errno := syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&p.status)),
				syscall.WNOHANG, 0, 0, 0)
			if errno != 0 || int(pid) <= 0 {
				break
			}
			if pid == main {
				code := uintptr(p.status>>8) & 0xff
				if signal := uintptr(p.status & 0x7f); signal != 0 {
					code = 128 + signal
				}
				others := ^uintptr(0) // all processes of the box but this one
				syscall.RawSyscall6(syscall.SYS_KILL, others, uintptr(syscall.SIGKILL), 0, 0, 0, 0)
				for errno == 0 || errno == syscall.EINTR { // until there is none
					_, _, errno = syscall.RawSyscall6(syscall.SYS_WAIT4, others, 0, 0, 0, 0, 0)
				}
				p.failed[0] = uint32(code)
				status := uintptr(unsafe.Pointer(&p.failed))
				syscall.RawSyscall6(syscall.SYS_WRITE, p.report, status, sizeOfStatus, 0, 0, 0)
				for {
					syscall.RawSyscall6(syscall.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
				}
			}
		}
	}
}
