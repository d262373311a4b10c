package daemon

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/stream"
)

// What is kept in memory: the last runs, fewer when their output is large.
const (
	maxRuns     = 1000
	maxRunBytes = 16 << 20
)

// recorder streams events and runs and keeps the last runs. It fits
// dispatch.Recorder.
type recorder struct {
	hub *stream.Hub

	mu       sync.Mutex
	runs     []events.Run // oldest first
	bytes    int          // of their output
	accepted uint64
	results  map[string]int            // runs by result
	hooks    map[string]map[string]int // the same by hook
	last     map[string]events.Run     // by hook
}

var _ dispatch.Recorder = (*recorder)(nil)

func newRecorder(hub *stream.Hub) *recorder {
	return &recorder{hub: hub, results: map[string]int{}, hooks: map[string]map[string]int{}, last: map[string]events.Run{}}
}

func (r *recorder) Accepted(e *events.Event) uint64 {
	r.mu.Lock()
	r.accepted++
	r.mu.Unlock()
	return r.hub.Publish(e.Event, stream.EventRecord(e))
}

func (r *recorder) Finished(run events.Run) {
	run.Seq = r.hub.Publish(run.Event, stream.RunRecord(&run))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
	r.bytes += size(run)
	for len(r.runs) > maxRuns || r.bytes > maxRunBytes && len(r.runs) > 1 {
		r.bytes -= size(r.runs[0])
		r.runs[0] = events.Run{}
		r.runs = r.runs[1:]
	}
	result := string(run.Result)
	r.results[result]++
	if r.hooks[run.Hook] == nil {
		r.hooks[run.Hook] = map[string]int{}
	}
	r.hooks[run.Hook][result]++
	r.last[run.Hook] = run
}

func size(run events.Run) int {
	return len(run.Stdout.Head) + len(run.Stdout.Tail) + len(run.Stderr.Head) + len(run.Stderr.Tail)
}

// query returns the newest runs that fit, newest first.
func (r *recorder) query(q api.RunQuery) []events.Run {
	limit := q.Limit
	if limit <= 0 {
		limit = 50
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := []events.Run{}
	for _, run := range slices.Backward(r.runs) {
		if len(found) == limit {
			break
		}
		if fits(run, q) {
			found = append(found, run)
		}
	}
	return found
}

func fits(run events.Run, q api.RunQuery) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return is(q.Hook, run.Hook) && is(q.Event, run.Event) && is(q.Session, run.SessionID) && is(q.Result, string(run.Result)) &&
		(q.Agent == "" || q.Agent == run.AgentID || q.Agent == run.AgentName) && !run.Started.Before(q.Since)
}

// find returns the run with this id, or the only one whose id begins so.
func (r *recorder) find(id string) (events.Run, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []events.Run
	for _, run := range r.runs {
		if strings.HasPrefix(run.ID, strings.ToUpper(id)) && id != "" {
			found = append(found, run)
		}
	}
	if i := slices.IndexFunc(found, func(run events.Run) bool { return run.ID == id }); i >= 0 {
		return found[i], 1
	}
	if len(found) == 1 {
		return found[0], 1
	}
	return events.Run{}, len(found)
}

// counts returns the runs of a hook by result, and its last run.
func (r *recorder) counts(hook string) (map[string]int, *events.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]int{}
	for result, n := range r.hooks[hook] {
		counts[result] = n
	}
	if run, ok := r.last[hook]; ok {
		return counts, &run
	}
	return counts, nil
}

func (r *recorder) totals() (accepted uint64, results map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	results = map[string]int{}
	for result, n := range r.results {
		results[result] = n
	}
	return r.accepted, results
}
