package daemon

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/metrics"
	"github.com/hookd/hookd/internal/trust"
	"github.com/hookd/hookd/internal/verdict"
)

// The values of labels that are no names of hooks. Tests hold them to the
// constants of the rooms they come from.
var (
	metricCodes = []string{
		string(
			events.CodeBadJSON,
		), string(events.CodeBadEventName), string(events.CodeBadData), string(events.CodeBadField),
		string(
			events.CodeReserved,
		), string(events.CodeTooLarge), string(events.CodeTooDeep), string(events.CodeTooMany),
		string(
			events.CodeQueueFull,
		), string(events.CodeIDConflict), string(events.CodeAnswerGone), string(events.CodeDiskQueueFull), string(events.CodeStorage), string(events.CodeDraining),
		string(
			events.CodeNotFound,
		), string(events.CodeRejected), string(events.CodeForbidden), string(events.CodeBadRequest),
		string(events.CodeBadMethod), string(events.CodeInternal),
	}
	metricResults = []string{
		string(events.ResultOK), string(events.ResultBlock), string(events.ResultFailed), string(events.ResultTimeout),
		string(events.ResultSpawnError), string(events.ResultInterrupted), string(events.ResultDropped),
	}
	metricStates = []string{
		string(
			hook.Active,
		), string(hook.Degraded), string(hook.Rejected), string(hook.Refused), string(hook.Waiting), string(hook.Gone), string(hook.Disabled),
	}
)

func (d *Daemon) newMetrics() *metrics.Metrics {
	names := catalog.EventNames()
	slices.Sort(names)
	return metrics.New(metrics.Options{
		Version: d.opts.Version, Commit: d.opts.Commit,
		Events: slices.Compact(names), Codes: metricCodes, Results: metricResults, Reasons: spawnReasons(),
		Load: d.load,
	})
}

// publishMetrics counts for the hooks of snap from now on, and what loading it
// came to.
func (d *Daemon) publishMetrics(snap *hook.Snapshot) {
	var names []string
	for _, e := range snap.Entries {
		if e.Hook != nil {
			names = append(names, e.Hook.Name)
		}
	}
	d.metrics.Publish(names)
	d.noteReload(snap)
}

func (d *Daemon) noteReload(snap *hook.Snapshot) {
	d.metrics.Reloaded(!broken(d.problems(snap)), time.Now())
}

// broken reports whether there is more than warnings.
func broken(list []api.Problem) bool {
	return slices.ContainsFunc(list, func(p api.Problem) bool { return !p.Warning })
}

// load is asked at a scrape.
func (d *Daemon) load() metrics.Load {
	load, hub := d.dispatch.Stats(), d.hub.Stats()
	l := metrics.Load{
		Depth: map[string]int{
			"observers": load.QueuedRuns,
			"decidable": load.WaitingDecide,
			"retry":     load.Retrying,
		},
		Inflight:   map[string]int{"observers": load.RunningObserve, "decidable": load.RunningDecide},
		QueueBytes: load.QueuedBytes, Hooks: map[string]int{},
		Subscribers: hub.Subscribers, Gaps: hub.Gaps,
		Store: d.storeLoad(),
	}
	if oldest := d.dispatch.Oldest(); !oldest.IsZero() {
		l.Oldest = time.Since(oldest)
	}
	count := states(d.discovery.Current())
	for _, s := range metricStates {
		l.Hooks[s] = count[s]
	}
	return l
}

func (d *Daemon) storeLoad() *metrics.Store {
	h := d.store.Health()
	return &metrics.Store{
		Up: h.Err == nil, Bytes: h.Bytes, Events: h.Events, Runs: h.Runs,
		PendingEvents: h.PendingEvents, PendingRuns: h.PendingRuns, PendingBytes: h.PendingBytes,
		DeadLetters: h.DeadLetters, Backlog: h.Backlog, Dropped: h.Dropped,
	}
}

// spawnErrors says why a process did not start, in words that are few.
var spawnErrors = []struct {
	reason string
	errors []error
}{
	{"not_found", []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP}},
	{"not_permitted", []error{fs.ErrPermission, syscall.EISDIR}},
	{"bad_format", []error{syscall.ENOEXEC}},
	{"busy", []error{syscall.ETXTBSY}},
	{"too_big", []error{syscall.E2BIG}},
	{"no_resources", []error{syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC}},
}

func spawnReasons() []string {
	list := []string{"untrusted", "changed"}
	for _, s := range spawnErrors {
		list = append(list, s.reason)
	}
	return list
}

func spawnReason(err error) string {
	var refusal *trust.Refusal
	var changed *trust.Changed
	switch {
	case errors.As(err, &refusal), errors.As(err, &changed) && changed.Refusal != nil:
		return "untrusted"
	case changed != nil:
		return "changed"
	}
	for _, s := range spawnErrors {
		for _, target := range s.errors {
			if errors.Is(err, target) {
				return s.reason
			}
		}
	}
	return metrics.Other
}

// decision says in a word what a verdict is.
func decision(v *verdict.Verdict) metrics.Decision {
	switch {
	case !v.Allowed || !v.Continue:
		return metrics.Denied
	case v.PermissionDecision == "ask":
		return metrics.Asked
	}
	return metrics.Allowed
}
