package daemon

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/agents/roster"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// unguarded counts by agent, for a day, the calls that hookd was not asked about and the calls that ran
// against its answer. It is bounded: of many alike it remembers the newest. The zero value knows nothing;
// recall takes in the record.
type unguarded struct {
	mu   sync.Mutex
	seen []unguardedCall         // oldest first
	told map[[2]string]time.Time // when hookd:unguarded was last emitted for an agent and a tool

	faults []roster.Fault // of the last look
}

type unguardedCall struct {
	at      time.Time
	agent   events.Dialect
	guarded wire.Guarded
}

const (
	unguardedTime  = 24 * time.Hour
	unguardedAgain = time.Hour // until the same agent and tool are told of again
	mostUnguarded  = 10_000
)

// add counts a call, and reports whether it is to be told.
func (u *unguarded) add(rec *wire.Decision) (tell bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen = append(u.seen, unguardedCall{rec.Time, rec.Dialect, rec.Guarded})
	if len(u.seen) > mostUnguarded {
		u.seen = slices.Clone(u.seen[mostUnguarded/10:])
	}
	if rec.Guarded == wire.GuardedDisobeyed {
		return true
	}
	key := [2]string{string(rec.Dialect), rec.Tool}
	if last, there := u.told[key]; there && rec.Time.Sub(last) < unguardedAgain {
		return false
	}
	if u.told == nil || len(u.told) > mostUnguarded {
		u.told = map[[2]string]time.Time{}
	}
	u.told[key] = rec.Time
	return true
}

// faultsNow takes in the faults of a look, and returns the new faults and the faults that are gone.
func (u *unguarded) faultsNow(faults []roster.Fault) (fresh, mended []roster.Fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fresh, mended = without(faults, u.faults), without(u.faults, faults)
	u.faults = faults
	return fresh, mended
}

// without returns the faults that are not in others.
func without(list, others []roster.Fault) (rest []roster.Fault) {
	for _, f := range list {
		is := func(o roster.Fault) bool { return o.Agent == f.Agent && o.Again() == f.Again() && o.Why == f.Why }
		if !slices.ContainsFunc(others, is) {
			rest = append(rest, f)
		}
	}
	return rest
}

// list returns the counts of the last day, by agent.
func (u *unguarded) list(now time.Time) (list []wire.Unguarded) {
	u.mu.Lock()
	defer u.mu.Unlock()
	by := map[events.Dialect]*wire.Unguarded{}
	for _, c := range u.seen {
		if now.Sub(c.at) > unguardedTime {
			continue
		}
		a := by[c.agent]
		if a == nil {
			a = &wire.Unguarded{Agent: c.agent}
			by[c.agent] = a
		}
		if c.guarded == wire.GuardedDisobeyed {
			a.Disobeyed++
		} else {
			a.NotAsked++
		}
		a.Last = &c.at
	}
	for _, f := range u.faults {
		name := events.Dialect(f.Agent)
		if by[name] == nil {
			by[name] = &wire.Unguarded{Agent: name}
		}
		by[name].Gone, by[name].Do = f.Why, f.Do
	}
	for _, name := range slices.SortedFunc(maps.Keys(by), cmp.Compare) {
		list = append(list, *by[name])
	}
	return list
}

// recall counts again the unguarded calls on record of the last day, from before this process.
func (u *unguarded) recall(ctx context.Context, d *Daemon) {
	bad := strings.Join([]string{string(wire.GuardedNotAsked), string(wire.GuardedDisobeyed)}, ",")
	q := wire.DecisionQuery{Decision: bad, Since: d.started.Add(-unguardedTime), Until: d.started, Limit: wire.MaxRuns}
	page, refused := d.history.Decisions(ctx, q)
	if refused != nil {
		d.log.Warn("what agents ran unasked is counted from now on", zap.String("error", refused.Message))
		return
	}
	slices.Reverse(page.Decisions) // newest first
	var seen []unguardedCall
	for _, rec := range page.Decisions {
		if !rec.Tried {
			seen = append(seen, unguardedCall{rec.Time, rec.Dialect, rec.Guarded})
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen = append(seen, u.seen...)
}

// callUnguarded warns of a call that hookd was not asked about, or that ran against its answer. It is
// called while an event is accepted, so it does not wait.
func (d *Daemon) callUnguarded(rec *wire.Decision) {
	if !d.unguarded.add(rec) {
		return
	}
	name, message := events.EventUnguarded, "an agent runs calls without an answer of hookd"
	why, do := cmp.Or(rec.Reason, "its result came, and hookd was not asked"), "hookd doctor "+string(rec.Dialect)
	if rec.Guarded == wire.GuardedDisobeyed {
		name, message = events.EventDisobeyed, "an agent did not obey an answer"
		why, do = rec.Reason, "hookd log "+rec.EventID
	}
	d.log.Warn(message,
		zap.String("agent", string(rec.Dialect)), zap.String("tool", rec.Tool), zap.String("subject", rec.Subject),
		zap.String("session_id", rec.SessionID), zap.String("event_id", rec.EventID), zap.String("why", why),
		zap.String("see", do))
	go d.emitOwn(name,
		member("agent", string(rec.Dialect)), member("session_id", rec.SessionID), member("cwd", rec.Cwd),
		member("call_id", rec.CallID), member("tool", rec.Tool), member("subject", rec.Subject),
		member("event_id", rec.EventID), member("denied", rec.PartOf), member("why", why), member("do", do))
}
