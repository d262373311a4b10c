package box

import (
	"bytes"
	"errors"
	"strconv"
	"syscall"
	"unsafe"
)

// A box by Landlock can be planned by hookd, begun by the first code of hookd-bridge, before Go has started there, and
// be served and ended by Go's: its program runs while Go starts. A plan gives its process no right that it has not. A
// signal that comes before Finish ends the wrapper, and the program with it, as SIGKILL does later: Go's start takes
// other handlers away.

// Plan is a box that another process of this user begins.
type Plan struct {
	Path, Cwd string
	Env       []string
	Filter    []byte
	Files     [2]int // descriptors of the rules, and of the lock of the temporary folder; the caller closes them
	Rest      Rest
}

// Rest is what Finish needs of a box.
type Rest struct {
	Spec    Spec // without its program
	Tmp     string
	Protect []string    // Spec's, and where links lead
	Links   [][2]string // see Spec.links
}

// NewPlan plans a box by Landlock for the program of s, and the process pid. The error is a *CannotError.
func NewPlan(s Spec, pid int) (*Plan, error) {
	p := &Plan{Rest: Rest{Spec: s}, Cwd: s.Cwd, Filter: seccompOf(false, true)}
	p.Rest.Links = s.links()
	p.Rest.Protect = s.Protect
	own, err := temporary(&s)
	if err != nil {
		return nil, err
	}
	p.Rest.Tmp = own.dir
	rules := &ruleset{}
	if p.Path, p.Env, err = s.executed(own.dir); err == nil {
		rules, err = rulesOf(&s, own.dir, strconv.Itoa(pid))
	}
	if err != nil {
		syscall.Close(own.lock)
		return nil, err
	}
	p.Files = [2]int{rules.fd, own.lock}
	return p, nil
}

// Early is a plan in the process that begins it. Texts and lists are as the system takes them.
type Early struct {
	Rules, Report         int // descriptors: of Plan.Files, and a pipe for a failure
	Path, Cwd, Argv, Envp uintptr
	Filter, FilterSize    uintptr
}

// What Begin has of a box, since it has no heap.
var (
	early      program
	earlyStack [stackSize]byte
)

// Begin starts the program, and returns its process; a negative one is the number of an error. Go need not have
// started, and nothing here uses its runtime.
//
//go:nosplit
//go:norace
func (e *Early) Begin() (pid int) {
	p := &early
	p.rules, p.asks, p.report = uintptr(e.Rules), true, uintptr(e.Report)
	p.path, p.cwd, p.argv, p.envp = e.Path, e.Cwd, e.Argv, e.Envp
	p.filter.code, p.filter.instructions = e.Filter, uint16(e.FilterSize/sizeOfInstruction)
	p.stacks[0] = uintptr(unsafe.Pointer(&earlyStack)) + stackSize
	p.flags = syscall.CLONE_VFORK | syscall.CLONE_FILES
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return -int(errno)
	}
	return p.clone()
}

// Finish is the rest of Run for a box that has begun. r.Spec has its program, with which it is made again where the
// system takes no supervisor. Another version's box is ended: it ran for the time of Go's start, with no supervisor.
func Finish(r *Rest, b Begun) (Ended, error) {
	if b.PID <= 0 { // nothing has begun
		for _, fd := range []int{b.Report, b.Listener, b.Lock} {
			syscall.Close(fd)
		}
		return runAt(Landlock, r.Spec)
	}
	if !bytes.Equal(b.Filter, seccompOf(false, true)) { // its supervisor could be another, too
		_ = syscall.Kill(b.PID, syscall.SIGKILL)
		err := errors.New("the box was ended: hookd is of another version than hookd-bridge, restart it")
		return Ended{Exit: exitFailed}, &RanError{err}
	}
	ended, err := finish(r, b)
	if no, is := errors.AsType[*CannotError](err); is && no.less {
		r.Spec.alone = true
		return runAt(Landlock, r.Spec)
	}
	return ended, err
}

func finish(r *Rest, b Begun) (Ended, error) {
	s := r.Spec
	s.Protect = r.Protect
	own := &slot{dir: r.Tmp, lock: b.Lock, links: s.Links}
	defer own.release()
	p := &program{to: -1, name: s.Argv[0], says: confineSays, tells: b.Report}
	p.supervisor = &supervisor{spec: &s, tmp: r.Tmp, listener: b.Listener}
	p.closes(b.Report, b.Listener)
	defer p.closeAll()
	stop := handSignals(b.PID)
	defer stop()
	return p.finish(Landlock, &s, r.Links, b.PID)
}
