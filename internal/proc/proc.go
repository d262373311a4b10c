// Package proc runs one process under a hard deadline (SPEC 7.1 to 7.3).
//
// Run blocks its caller until the process has been reaped, which is at the
// deadline plus the time a kill takes, at most ReapWait longer. It is done
// when the main process is gone, never when a pipe closes: a background child
// that holds a pipe after a clean exit lives on, its output is read and thrown
// away for as long as it lives. At the deadline, or when the context ends,
// every process of the run is killed: through its cgroup where there is one,
// else by a walk over the process table, which a process can escape that left
// its session, its parent and its descriptors behind (Exit.Left counts what is
// known to be left). Memory is bounded whatever a process writes.
//
// A process starts in its own session, with exactly the descriptors 0, 1 and
// 2 (all others of this program are marked close-on-exec for that); all of its
// stdin is there before it starts. There is one waiting call per run and no
// timer, no goroutine per pipe, no wait for "any child", so other parts of the
// program may run processes of their own. The deadline counts from the start: a
// file system that hangs holds the start, before the fork, for as long as that.
//
// Package proc knows nothing of hooks and events, logs nothing and retries
// nothing but a file that is busy (ETXTBSY).
package proc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// ReapWait bounds how long Run waits for processes to die after SIGKILL.
	// One that is stuck in the kernel is reaped later, in the background.
	ReapWait = 2 * time.Second
	// LateWindow is how long after the end of the process output still
	// belongs to the record.
	LateWindow = 250 * time.Millisecond
)

// Options for New. The zero value works.
type Options struct {
	// Cgroup gives each run its own cgroup where a cgroup v2 folder is
	// writable (Linux 5.14 and later), so that no process escapes the kill.
	Cgroup bool
	// Record is a file that says which runs are under way. New ends those
	// that a killed predecessor left, and begins it anew; so only one Runner
	// at a time may have it. "" = none.
	Journal string
}

// Runner runs processes. It is safe for use by many goroutines.
type Runner struct {
	groups   *cgroups // nil: process groups only
	journal  *journal // nil: none
	swept    Swept
	scratch  sync.Pool
	wakers   wakers
	starting atomic.Int32 // starts under way: their children hold copies of all descriptors
	reapWait time.Duration
	noPidfd  bool // tests: as on a kernel without pidfd

	// pause waits before a busy file is tried again; false when ctx ended.
	pause func(ctx context.Context, d time.Duration) bool
}

// New makes a Runner. It looks for a writable cgroup once, removes the empty
// folders that a killed predecessor left there, and falls back to process
// groups without an error. Ending the runs of a killed predecessor blocks it
// for at most ReapWait.
func New(o Options) *Runner {
	r := &Runner{reapWait: ReapWait, pause: pause}
	r.scratch.New = func() any { return new([64 << 10]byte) }
	r.swept = sweep(o.Journal)
	if o.Cgroup {
		r.groups = newCgroups()
	}
	r.journal = newJournal(o.Journal, r.groups)
	sealDescriptors()
	return r
}

// Cgroup returns the cgroup folder that runs live under, "" when there are
// only process groups.
func (r *Runner) Cgroup() string { return r.groups.folder() }

// CgroupOf returns the cgroup folder of the run that process pid lives in, as
// in Process.Cgroup, or "". A folder is used again once it is empty.
func (r *Runner) CgroupOf(pid int) string { return r.groups.of(pid) }

// Swept returns what New has ended.
func (r *Runner) Swept() Swept { return r.swept }

// Close removes the cgroup folders that are empty, and the record if nothing
// runs. The folders of background children that live on stay; the next New
// removes them once they are empty. Runs that are under way are not touched.
func (r *Runner) Close() error { return errors.Join(r.groups.close(), r.journal.close()) }

// Spec is one process to run.
type Spec struct {
	Path  string   // the program, absolute; also argv[0]
	Args  []string // argv after argv[0]
	Env   []string // the whole environment; nil is an empty one
	Dir   string   // working directory, absolute; "" is the caller's own
	Stdin [][]byte // all of stdin, in parts that follow each other; nil is an empty one

	// Timeout is the wall clock from the start to the kill. 0 or less is no
	// deadline: only ctx ends the run.
	Timeout time.Duration
	// Latest is when the run ends at the latest, however late it has started;
	// after it nothing is started. Zero is never.
	Latest time.Time
	// Looks, if not nil, is called before each file that is looked at for the
	// start. One that does not answer holds the start.
	Looks func(path string)
	// TermBefore sends SIGTERM and SIGCONT to the process group that long
	// before the kill. 0, or not less than Timeout: never.
	TermBefore time.Duration
	// Whole is how many bytes of stdout are kept in Exit.Whole. 0 is none.
	Whole int
	// Started, if not nil, is called once after a successful start, by the
	// goroutine that called Run. The deadline runs meanwhile.
	Started func(Process)
}

// Process is a process that was started.
type Process struct {
	PID    int       // also its process group and its session
	Cgroup string    // the folder of its cgroup, "" if it has none
	Start  time.Time // with a monotonic reading
}

// Exit is how a run ended.
type Exit struct {
	Err error // did not start: a *StartError; nil otherwise

	PID        int
	Code       int           // exit code; -1 when signalled, killed or not started
	Signal     string        // "SIGKILL" and so on when a signal ended it
	TimedOut   bool          // killed at the deadline
	Terminated bool          // SIGTERM was sent, as TermBefore asked
	Killed     string        // "" not killed, else how: "cgroup", "tree" (process table), "group"
	Left       int           // processes that may have survived the kill
	Start      time.Time     // of the process, or of the attempt
	Duration   time.Duration // from Start until it was reaped, or given up

	Stdout, Stderr Output
	Whole          []byte // the first Spec.Whole bytes of stdout, until the end of the process
	WholeExceeded  bool   // there were more

	// Late is not nil if a pipe was still held when the process had ended.
	// It returns the final outputs for the record: with what came within
	// LateWindow of the end. It blocks until then or until the pipes close.
	Late func() (stdout, stderr Output)
}
