package dispatch

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// Runner executes one job. It returns when the job's main process was reaped
// or given up, and kills it when ctx ends. A file that does not answer can hold
// it for ever: then the Dispatcher goes on without it. Only for a persistent hook
// it always returns right after Job.Timeout or the end of ctx, whatever hangs.
type Runner interface {
	Run(ctx context.Context, j *Job) JobResult
}

// Job is one execution of one hook for one event.
type Job struct {
	RunID   string
	Hook    *hook.Hook
	Event   *events.Event
	Given   string          // the event name the hook is given
	Payload json.RawMessage // the payload under that name, after earlier rewrites
	Data    json.RawMessage // the same as the event was emitted
	Facts   json.RawMessage // of the call, for a hook that wants them; set by the Runner
	Rules   *neutral.Rules  // of the hook
	Place   string          // where the event happened, by the rules of the hook; "" = unknown
	Output  string          // what hooks of the conversation have printed for later ones
	Timeout time.Duration   // from the start of the process
	Latest  time.Time       // what has not started by then does not start, and is killed if it does
	Whole   int             // bytes of stdout that its answer may need; 0 = none
	Awaited bool            // the sender waits for it: it must not stand behind observers
	// Settings is the number that Submitter.Settings returned for a job that is submitted; jobs with
	// others may run beside it.
	Settings int

	// Looks is to be called before each file that is looked at for the start,
	// and Inside when the job runs inside the daemon from now on.
	Looks  func(path string)
	Inside func()
	// Starting is to be called once before a process is started for the job, and
	// Started after that when it was; not for a persistent hook, see Joined.
	Starting func()
	Started  func(Process)

	*progress
}

// progress is the Dispatcher's knowledge of a job that a Runner has. A copy of the Job, as
// a Runner makes it to run a newer version of the hook, shares it.
type progress struct {
	stage   stage
	started time.Time // when it was given to the Runner
	pid     atomic.Int64
	ctx     context.Context
	cancel  context.CancelCauseFunc // ends it; nil = its Runner does, see Killer
	killing bool                    // Killer ends it; guarded by underWay.mu
	over    bool                    // it has come back, or was given up; guarded by stalls.mu
	unfit   error                   // why it cannot be run; nil = it can
}

// Process identifies the process that a job started, to tell later which process sends an event.
type Process struct {
	PID    int    // also its process group and session
	Cgroup string // "" = none of its own
}

// JobResult is the result that a job left behind.
type JobResult struct {
	Err      error  // it did not start, or was refused
	Version  string // digest of the version that ran; "" = that of Job.Hook
	Short    bool   // because there was no process, descriptor or memory to spare at that moment
	Failure  string // it ran inside the daemon and failed, in words for people
	Stalled  string // what it still waited for at its deadline, in words for people; "" = nothing
	ExitCode int    // -1 when there is none
	Signal   string
	TimedOut bool
	Killed   string
	Left     int
	Started  time.Time
	Duration time.Duration
	Stdout   wire.Output
	Stderr   wire.Output
	Whole    []byte        // stdout up to Job.Whole
	Exceeded bool          // there was more than Job.Whole
	Rule     string        // that answered, of a hook with rules; "" = none
	Earlier  []string      // ids of earlier events that Rule counted, the oldest first
	Missing  *wire.Missing // no earlier event fitted its `unless`; nil = one did, or it has none
	Span     [2]int        // of the call's text that the rule fitted: from, to; both 0 = the whole
	// Late is nil unless a background child still holds a pipe. It blocks for
	// a moment and returns the output that belongs to the record.
	Late func() (stdout, stderr wire.Output)

	limit   time.Duration // the deadline it had
	stopped bool          // hookd stopped, and did not wait for it
}

// Submitter is a Runner that runs observers' jobs of persistent hooks without
// a goroutine for each. Submit does not block; done is called once, when the
// job has ended or ctx has killed it. Jobs of one version of a hook with the same
// Job.Settings begin in the order in which they were submitted, where the hook has one
// worker; while there is no process to spare for that, they wait.
type Submitter interface {
	Submit(ctx context.Context, j *Job, done func(JobResult))
	// Settings returns the number of the settings in force that workers are started with.
	// It does not block.
	Settings() int
}

// Killer is a Runner that can end a job of a persistent hook alone. Kill does not wait
// for the end; it returns false when the job is not, or not any more, with a worker.
type Killer interface {
	Kill(j *Job) bool
}

// Window is how many runs of observers a copy of a persistent hook has at once.
const Window = 64

// unstartable is the outcome of a job that never started.
func unstartable(err error) JobResult { return JobResult{Err: err, ExitCode: -1, Started: time.Now()} }
