package timerslack

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// In nanoseconds: what a process has that sets nothing (PR_SET_TIMERSLACK(2const)), and what
// this one sets.
const (
	usual = 50_000
	ours  = 300_000
)

// againVar is set for the second program alone: one that still has the usual slack then, in a
// sandbox that does not retain it, does not try a third time.
const againVar = "HOOKD_TIMERSLACK_SET"

// Raise sets the slack of all threads: it executes the program again, with the same process
// id, arguments and environment, since each thread has a slack of its own and Go has made some
// before main. It returns in the second program, and in the first where that cannot be: then
// all is slower, and nothing else. It does nothing where the slack is not the usual one, as
// when the service manager has set it. It must come before anything is opened.
func Raise() {
	_, again := os.LookupEnv(againVar)
	os.Unsetenv(againVar)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	raised = again && current() == ours
	program, err := os.Executable()
	if again || err != nil || current() != usual {
		return
	}
	if set(ours) == nil {
		syscall.Exec(program, os.Args, append(os.Environ(), againVar+"=1"))
		set(usual)
	}
}

// raised is set by Raise alone, before anything is started. A slack of the same length that the
// program was started with is one for its processes, too.
var raised bool

// Raised returns the slack that a process has to set which this program starts; is is false
// where it need not.
func Raised() (slack uintptr, is bool) { return usual, raised }

// Lend gives the calling thread the slack that a process is to have which it forks, until
// back is called. The goroutine stays on the thread.
func Lend() (back func()) {
	if !raised {
		return func() {}
	}
	runtime.LockOSThread()
	set(usual)
	return func() {
		set(ours)
		runtime.UnlockOSThread()
	}
}

// current returns the slack of the calling thread; 0 where that is not known.
func current() uintptr {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return uintptr(slack)
}

func set(slack uintptr) error { return unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0) }
