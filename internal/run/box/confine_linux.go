package box

import (
	"syscall"
	"unsafe"
)

// confined are the values with which the child of a box by Landlock takes its rights. Its system calls are the same for
// each box, so that a program can make them before Go has started in it: see Early.
type confined struct {
	rules  uintptr // descriptor of the rules, and then of the supervisor's listener; 0 = the box is by namespaces
	asks   bool    // there is a supervisor
	filter sockFprog
	head   [2]uint32 // of capabilities: their version, and this process
	none   [6]uint32
}

// sockFprog is struct sock_fprog.
type sockFprog struct {
	instructions uint16
	code         uintptr
}

const sizeOfInstruction = 8

// What confine does, for people, by its steps.
var confineSays = []string{
	"end with the wrapper", "refuse new privileges", "enforce Landlock", "close other files", "drop capabilities", filtering,
}

const filtering = "enforce the seccomp filter"

// confine takes all rights from the child but those of its rules, and everything that an exec could give back.
//
//go:nosplit
//go:norace
func (p *program) confine() {
	p.must(0, syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	p.must(1, syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0)
	p.must(2, sysLandlockEnforce, p.rules, 0, 0)
	// A descriptor that the agent left open would lead out of the box.
	p.must(3, sysCloseRange, firstOther, ^uintptr(0)>>32, closeOnExec)
	for capability := range uintptr(lastCapability) {
		syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_CAPBSET_DROP, capability, 0, 0, 0, 0)
	}
	p.head[0] = capabilityVersion
	p.must(4, syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&p.head)), uintptr(unsafe.Pointer(&p.none)), 0)
	flags := uintptr(0)
	if p.asks {
		flags = withListener
	}
	listener := p.must(5, sysSeccomp, setModeFilter, flags, uintptr(unsafe.Pointer(&p.filter)))
	if p.asks {
		p.must(5, syscall.SYS_DUP3, listener, p.rules, syscall.O_CLOEXEC)
		p.must(5, syscall.SYS_CLOSE, listener, 0, 0)
	}
}

// must makes a system call; where that fails it reports the step, and ends the child.
//
//go:nosplit
//go:norace
func (p *program) must(step uint32, trap, a, b, c uintptr) uintptr {
	r, _, errno := syscall.RawSyscall6(trap, a, b, c, 0, 0, 0)
	if errno != 0 {
		p.fail(step, errno)
	}
	return r
}

// enforces is a filter in memory of the program.
func (p *program) enforces(code []byte) sockFprog {
	return sockFprog{uint16(len(code) / sizeOfInstruction), p.bytes(code)}
}

const (
	prSetSubreaper    = 36 // PR_SET_CHILD_SUBREAPER
	prSetNoNewPrivs   = 38
	capabilityVersion = 0x20080522 // _LINUX_CAPABILITY_VERSION_3
	lastCapability    = 64
	setModeFilter     = 1

	firstOther  = 3 // the descriptor after standard error
	closeOnExec = 4 // CLOSE_RANGE_CLOEXEC
)
