package dispatch

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// killTime is the time past its deadline for a run that has begun to be killed and
// reaped. After that the Dispatcher goes on without it.
const killTime = 3 * time.Second

// notEnded is said of a run that was killed: on a busy machine its end may only be seen late.
const notEnded = "it is not known to have ended"

// maxStalled is how many runs of a hook may be held at once by directories of
// different events before all its runs fail at once.
const maxStalled = 4

// stage is how far a job has come.
type stage struct {
	mu      sync.Mutex
	file    string // looked at last, for the start
	running bool
}

func (s *stage) looks(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file = path
}

func (s *stage) runs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

func (s *stage) at() (file string, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, s.running
}

// bounded runs a job and calls end once: with its outcome, or, when its files do
// not answer until Job.Latest, late with that of a run that timed out, by another
// goroutine. Such a run is left to itself. Until it comes back, others of its hook fail at once: so each
// hook holds few threads, and is tried again as soon as its files answer.
func (rn *runs) bounded(j *Job, end func(out JobResult, late bool)) {
	if j.Hook.Persistent {
		end(rn.run(j), false)
		return
	}
	if err := rn.stalls.refuse(j); err != nil {
		end(unstartable(err), false)
		return
	}
	begun := time.Now()
	var giveUp func()
	giveUp = func() {
		switch why, over := rn.stalls.giveUp(j, time.Now()); {
		case over:
		case why == "":
			rn.alarms.after(j.Latest.Add(killTime), giveUp)
		default:
			j.cancel(errGivenUp) // its program is not to begin any more
			took := time.Since(begun)
			end(JobResult{Stalled: why, TimedOut: true, ExitCode: -1, Started: begun, Duration: took}, true)
		}
	}
	late := rn.alarms.after(j.Latest, giveUp)
	out := rn.run(j)
	rn.alarms.cancel(late)
	if rn.stalls.back(j) {
		end(out, false)
		return
	}
	rn.log.Info(
		"a run that was given up has come back, its hook is tried again",
		zap.String("hook", j.Hook.Name),
		zap.String("run_id", j.RunID),
		zap.Duration("after", time.Since(begun)),
	)
}

// errGivenUp is why a job ends that is not waited for any more.
var errGivenUp = errors.New("its deadline has passed")

// stalls are the runs that were given up and have not come back, by hook.
type stalls struct {
	mu    sync.Mutex
	hooks map[version][]stall
}

// version is a hook as it is: a changed one is tried again.
type version struct{ id, digest string }

type stall struct {
	job   *Job
	place string
	why   string
}

func versionOf(h *hook.Hook) version { return version{h.ID, h.Digest} }

// place is the directory that the event makes a hook work in; "" = none.
func place(j *Job) string {
	if j.Hook.InEventCwd || j.Hook.Type == hook.Builtin {
		return j.Place
	}
	return ""
}

// refuse returns why a job is not to be tried now; nil = it is.
func (s *stalls) refuse(j *Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.hooks[versionOf(j.Hook)]
	if len(list) == 0 {
		return nil
	}
	at := place(j)
	same := func(held stall) bool { return held.place == at }
	if i := slices.IndexFunc(list, same); i >= 0 {
		return heldUp(list[i])
	}
	if len(list) >= maxStalled {
		return heldUp(list[0])
	}
	return nil
}

func heldUp(by stall) error {
	return errors.New("not tried, as run " + by.job.RunID + " still waits: " + by.why)
}

// giveUp notes that a job is not waited for any more, and returns for people
// the cause that holds it; "" = it has begun and gets some more time. over says that it
// has come back just now.
func (s *stalls) giveUp(j *Job, now time.Time) (why string, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, running := j.stage.at()
	switch {
	case j.over:
		return "", true
	case running && now.Before(j.Latest.Add(killTime)):
		return "", false
	case running:
		why = notEnded
	case file == "":
		why = "its start did not come to an end"
	default:
		why = strconv.Quote(file) + " did not answer: does its file system hang? type: mount"
	}
	if s.hooks == nil {
		s.hooks = map[version][]stall{}
	}
	v := versionOf(j.Hook)
	s.hooks[v] = append(s.hooks[v], stall{job: j, place: place(j), why: why})
	j.over = true
	return why, false
}

// back notes that the Runner has come back with a job, and reports whether that
// is still waited for.
func (s *stalls) back(j *Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !j.over {
		j.over = true
		return true
	}
	v := versionOf(j.Hook)
	s.hooks[v] = slices.DeleteFunc(s.hooks[v], func(held stall) bool { return held.job == j })
	if len(s.hooks[v]) == 0 {
		delete(s.hooks, v)
	}
	return false
}

// run calls the Runner. A panic in it costs one run, not the daemon.
func (rn *runs) run(j *Job) (out JobResult) {
	defer func() {
		if p := recover(); p != nil {
			rn.log.Error(
				"panic in a run",
				zap.String("hook", j.Hook.Name),
				zap.String("run_id", j.RunID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			out = unstartable(errInternal)
		}
	}()
	if j.unfit != nil {
		return unstartable(j.unfit)
	}
	return rn.opts.Runner.Run(j.ctx, j)
}
