package daemon

import (
	"cmp"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/metrics"
	"github.com/hookd/hookd/internal/record/trace"
	"github.com/hookd/hookd/wire"
)

// tap counts and traces events, runs and verdicts. It fits dispatch.Tap.
type tap struct {
	metrics *metrics.Metrics
	trace   *trace.Tracer // nil = off
}

var _ dispatch.Tap = tap{}

func (t tap) Accepted(e *events.Event, matched int) {
	t.metrics.Accepted(e.Envelope.Event, 1)
	if t.trace != nil {
		t.trace.Accepted(traced(e), matched)
	}
}

func (t tap) Ran(e *events.Event, r wire.Run, err error) {
	run := metrics.CountedRun{
		Hook:     r.Hook,
		Result:   string(r.Result),
		Queued:   millis(r.QueueMS),
		Duration: millis(r.DurationMS),
	}
	if r.Result == wire.ResultSpawnError {
		run.Reason = spawnReason(err)
	}
	t.metrics.Ran(run)
	if t.trace != nil {
		t.trace.Ran(traced(e), trace.TracedRun{
			ID: r.ID, Hook: r.Hook, Result: string(r.Result), Started: r.Started, Duration: millis(r.DurationMS),
			Failed: r.Result != wire.ResultOK && r.Result != wire.ResultDeny,
		})
	}
}

func (t tap) Decided(e *events.Event, v *verdict.Verdict, a *wire.Answered) {
	d, took := decision(v), time.Since(e.Time)
	if a != nil && a.HeldMS > 0 {
		held := millis(a.HeldMS)
		t.metrics.Held(a.By, held)
		took = max(0, took-held)
	}
	t.metrics.Decided(d, took)
	if t.trace != nil {
		t.trace.Decided(traced(e), string(d))
	}
}

func traced(e *events.Event) trace.Traced {
	facts := dialect.Facts(e)
	tool := ""
	if names := dialect.ToolNames(e); len(names) > 0 {
		tool = names[0]
	}
	return trace.Traced{
		Session: e.SessionID, AgentID: e.AgentID, AgentName: cmp.Or(e.AgentName, string(e.Dialect)),
		Tool: tool, Call: facts.String(neutral.Call),
		ID:          e.EventID,
		Name:        e.Envelope.Event,
		Traceparent: e.Traceparent,
		Tracestate:  e.Tracestate,
		At:          e.Time,
	}
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
