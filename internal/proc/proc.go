// Package proc runs one process under a hard deadline.
//
// Run blocks its caller until the process has been reaped, at the latest at the
// deadline plus the time a kill takes (ReapWait at most). It ends with the main
// process, not with its pipes: a background child that holds a pipe after a clean exit
// lives on, and its output is read and discarded. At the deadline, or when the context
// ends, every process of the run is killed: through its cgroup where there is one, else
// by a walk over the process table. A process that has left its session, its parent and
// its descriptors escapes that walk; Exit.Left counts the processes that are known to
// be left. Memory is bounded whatever a process writes.
//
// A process starts in its own session with the descriptors 0, 1 and 2 alone (all
// others of this program are marked close-on-exec), and with all of its stdin
// ready. A run costs one waiting system call: no timer and no goroutine per pipe.
// No call waits for "any child", so other parts of the program may run processes of
// their own. The deadline counts from the start; a file system that hangs blocks
// the start before the fork, and the caller with it.
//
// Package proc knows nothing of hooks and events, logs nothing and retries nothing
// but the start of a busy file (ETXTBSY).
package proc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/spawn"
)

const (
	// ReapWait bounds how long Run waits for processes to die after SIGKILL. A process that
	// is stuck in the kernel is reaped later, in the background.
	ReapWait = 2 * time.Second
	// LateWindow is how long after the end of the process its output still counts
	// as output of the run.
	LateWindow = 250 * time.Millisecond
)

// Options for New. The zero value works.
type Options struct {
	// Cgroup gives each run its own cgroup where a cgroup v2 folder is
	// writable (Linux 5.14 and later), so that no process escapes the kill.
	Cgroup bool
	// Journal is a file that lists the runs under way. New kills the runs that a killed
	// predecessor left and empties the file, so only one Runner at a time may use it. "" =
	// none.
	Journal string
	// Adopt makes this process the parent of its runs' orphans, and has the Runner reap them
	// until Close (Linux): so BelowUs knows them.
	Adopt bool

	// spawn starts processes; nil is spawn.Start. Tests set it.
	spawn starter
}

// starter starts a process as spawn.Start does.
type starter func(context.Context, *spawn.Spec) (spawn.Process, error)

// Runner runs processes. It is safe for use by many goroutines.
type Runner struct {
	groups   *cgroups // nil: process groups only
	journal  *journal // nil: none
	orphans  *orphans // nil: none are adopted
	swept    Swept
	scratch  sync.Pool
	starting atomic.Int32 // starts under way: until exec their children hold all descriptors
	reapWait time.Duration

	spawn starter

	// pause waits before a busy file is tried again; false when ctx ended.
	pause func(ctx context.Context, d time.Duration) bool
}

// New makes a Runner. It looks for a writable cgroup once, removes the empty
// folders that a killed predecessor left there, and without a cgroup uses process
// groups. It kills the runs of a killed predecessor, which takes ReapWait at most.
func New(o Options) *Runner {
	r := &Runner{reapWait: ReapWait, spawn: o.spawn}
	r.pause = func(ctx context.Context, d time.Duration) bool { return pause.For(d, ctx.Done()) }
	if r.spawn == nil {
		r.spawn = spawn.Start
	}
	r.scratch.New = func() any { return new([64 << 10]byte) }
	r.swept = sweep(o.Journal)
	if o.Cgroup {
		r.groups = newCgroups(r.spawn)
	}
	r.journal = newJournal(o.Journal, r.groups)
	if o.Adopt {
		r.orphans = adopt()
	}
	spawn.SealDescriptors()
	return r
}

// Cgroup returns the folder with the cgroups of runs, "" when there are only
// process groups.
func (r *Runner) Cgroup() string { return r.groups.folder() }

// CgroupOf returns the cgroup folder of the run that process pid is in, as in
// Process.Cgroup, or "". A folder is used again once it is empty.
func (r *Runner) CgroupOf(pid int) string { return r.groups.of(pid) }

// Way returns how processes are started, see spawn.Way.
func (r *Runner) Way() string { return spawn.Way() }

// Swept returns the counts of the runs that New has killed.
func (r *Runner) Swept() Swept { return r.swept }

// Close removes the empty cgroup folders, and the journal if nothing runs. It
// leaves the folders of background children that live on, which the next New
// removes once they are empty, and does not end runs.
func (r *Runner) Close() error {
	r.orphans.close()
	return errors.Join(r.groups.close(), r.journal.close())
}

// Spec is one process to run.
type Spec struct {
	Path  string   // the program, absolute; also argv[0]
	Args  []string // argv after argv[0]
	Env   []string // the whole environment; nil is an empty one
	Dir   string   // working directory, absolute; "" is the caller's own
	As    *User    // the user that it runs as; nil is the caller's own. Another one needs root
	Stdin [][]byte // all of stdin, in parts that follow each other; nil is an empty one

	// Timeout is the wall clock from the start to the kill. 0 or less is no
	// deadline: only ctx ends the run.
	Timeout time.Duration
	// Latest is when the run is killed at the latest, however late it has started;
	// no run starts after it. Zero is never.
	Latest time.Time
	// Looks, if not nil, is called with each file before it is opened for the start.
	// A file whose disk does not answer blocks the start.
	Looks func(path string)
	// TermBefore sends SIGTERM and SIGCONT to the process group that long
	// before the kill. 0, or not less than Timeout: never.
	TermBefore time.Duration
	// Whole is how many bytes of stdout Exit.Whole has at most. 0 is none.
	Whole int
	// Started, if not nil, is called once after a successful start, by the
	// goroutine that called Run. The deadline runs meanwhile.
	Started func(Process)
}

// User is a user, and all of its groups: the process has no others.
type User struct {
	UID, GID uint32
	Groups   []uint32
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
	Duration   time.Duration // from Start until it was reaped, or until Run gave up

	Stdout, Stderr Output
	Whole          []byte // the first Spec.Whole bytes of stdout, until the end of the process
	WholeExceeded  bool   // there were more

	// Late is not nil if a background process held a pipe when the run ended. It returns
	// the outputs with the bytes that came within LateWindow of the end, and blocks until
	// then or until the pipes close.
	Late func() (stdout, stderr Output)
}
