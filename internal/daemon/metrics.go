package daemon

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/metrics"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// The values of labels that are no names of hooks. Tests compare them with the
// constants of the rooms that they come from.
var (
	metricCodes = texts(
		wire.CodeBadJSON, wire.CodeBadEventName, wire.CodeBadData, wire.CodeBadField, wire.CodeReserved,
		wire.CodeTooLarge, wire.CodeTooDeep, wire.CodeTooMany, wire.CodeQueueFull, wire.CodeIDConflict,
		wire.CodeAnswerGone, wire.CodeAnswered, wire.CodeDiskQueueFull, wire.CodeStorage, wire.CodeDraining,
		wire.CodeNotFound, wire.CodeRejected, wire.CodeForbidden, wire.CodeBadRequest, wire.CodeBadMethod,
		wire.CodeInternal,
	)
	metricResults = texts(
		wire.ResultOK, wire.ResultDeny, wire.ResultFailed, wire.ResultTimeout, wire.ResultSpawnError,
		wire.ResultInterrupted, wire.ResultDropped, wire.ResultMerged,
	)
	metricStates = texts(
		hook.Active, hook.Degraded, hook.Rejected, hook.Refused, hook.Waiting, hook.Gone, hook.Disabled,
	)
)

func texts[T ~string](words ...T) (list []string) {
	for _, w := range words {
		list = append(list, string(w))
	}
	return list
}

func newMetrics(o Options, load func() metrics.Load) *metrics.Metrics {
	names := catalog.EventNames()
	slices.Sort(names)
	return metrics.New(metrics.Options{
		Version: o.Version, Commit: o.Commit,
		Events: slices.Compact(names), Codes: metricCodes, Results: metricResults, Reasons: spawnReasons(),
		Asks: []string{wire.ByPerson, wire.ByTimeout, wire.ByRestart, wire.ByGone},
		Load: load,
	})
}

// meter measures the daemon for the metrics. All is set before the first measurement.
type meter struct {
	metrics   *metrics.Metrics
	inventory *inventory
	policy    *policyLayer
	dispatch  *dispatch.Dispatcher
	hub       *stream.Hub
	store     *store.Store
	forward   forwarding
	fleet     *membership // nil = it is in none
}

// publishMetrics makes the hooks of snap the ones that are counted, and records whether
// the reload was good.
func (m *meter) publishMetrics(snap *hook.Snapshot) {
	var names []string
	for _, e := range snap.Entries {
		if e.Hook != nil {
			names = append(names, e.Hook.Name)
		}
	}
	m.metrics.Publish(names)
	m.noteReload(snap)
}

func (m *meter) noteReload(snap *hook.Snapshot) {
	m.metrics.Reloaded(!broken(m.inventory.problems(snap)), time.Now())
}

// broken reports whether there is more than warnings.
func broken(list []wire.Problem) bool {
	return slices.ContainsFunc(list, func(p wire.Problem) bool { return !p.Warning })
}

// load returns the state of the daemon. It is called at each scrape.
func (m *meter) load() metrics.Load {
	load, hub := m.dispatch.Stats(), m.hub.Stats()
	health := m.store.Health()
	l := metrics.Load{
		Depth: map[string]int{
			"observers": load.QueuedRuns,
			"decidable": load.WaitingDecide,
			"retry":     load.Retrying,
		},
		Inflight:   map[string]int{"observers": load.RunningObserve, "decidable": load.RunningDecide},
		QueueBytes: load.QueuedBytes, Hooks: map[string]int{},
		Subscribers: hub.Subscribers, Gaps: hub.Gaps,
		Store: &health, Forward: m.forward.info(context.Background()), Fleet: m.fleetLoad(),
		Policy: map[string]int{},
	}
	if oldest := m.dispatch.Oldest(); !oldest.IsZero() {
		l.Oldest = time.Since(oldest)
	}
	if now, set := m.policy.now(); set {
		l.Policy[now.Manifest.Name] = 0
		if now.State.Error == "" {
			l.Policy[now.Manifest.Name] = 1
		}
	}
	count := m.inventory.states(m.inventory.discovery.Current())
	for _, s := range metricStates {
		l.Hooks[s] = count[s]
	}
	return l
}

// fleetLoad returns how this machine is in its fleet; nil = it is in none.
func (m *meter) fleetLoad() *metrics.Fleet {
	if m.fleet == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lagTime)
	defer cancel()
	s, err := m.fleet.Status(ctx)
	if err != nil {
		return nil
	}
	f := &metrics.Fleet{
		Up: s.State.Connected && s.Trouble == "", Directed: s.Directive == "",
		Waiting: map[string]int{"events": s.Outbox.Messages, "decisions": s.Decisions, "refused": s.Outbox.Refused},
		Sent:    s.Sent, Taken: s.Taken, Doubles: s.Doubles, Refused: s.Refused,
	}
	if oldest := s.Oldest(); !oldest.IsZero() {
		f.Lag = time.Since(oldest)
	}
	return f
}

// spawnErrors are the reasons of a process that did not start: a short list, because
// each is the value of a label.
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

// decision returns the decision of a verdict as the value of a label.
func decision(v *verdict.Verdict) metrics.Outcome {
	switch {
	case !v.Allowed || !v.Continue:
		return metrics.Denied
	case v.PermissionDecision == "ask":
		return metrics.Asked
	}
	return metrics.Allowed
}
