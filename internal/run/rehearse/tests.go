// Package rehearse runs a hook for events that nothing depends on, before a person
// relies on it: once, for the tests that stand in its file, and for events of the past.
// A function that ends in Local needs no daemon: the hook runs in a Dispatcher made for it.
//
// A rehearsed run is recorded nowhere but where its Tryer records it, reaches no other
// hook and decides nothing. Results come in the order of the questions. A hook
// that fails is a result, never an error; the end of the context ends the rest.
package rehearse

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// Tryer runs a hook for one event if the hook's definition admits it, see
// dispatch.Dispatcher.Rehearse. It is safe for concurrent use.
type Tryer interface {
	Rehearse(
		ctx context.Context,
		from dispatch.Origin,
		h *hook.Hook,
		env events.Envelope,
		at time.Time,
	) (dispatch.Trial, *wire.Error)
}

// Failed is the answer that a test got from a hook that failed.
const Failed = "failed"

// Tests runs the tests of h, as many at once as there are processors. from is the
// process that asked for it. An error means that hookd did not run them all.
func Tests(ctx context.Context, t Tryer, from dispatch.Origin, h *hook.Hook) (wire.Tests, *wire.Error) {
	list := wire.Tests{Hook: h.Name, File: h.File, Digest: h.Digest, Tests: make([]wire.TestedAs, len(h.Tests))}
	errs := make([]*wire.Error, len(h.Tests))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i := range h.Tests {
		slots <- struct{}{}
		running.Go(func() {
			list.Tests[i], errs[i] = one(ctx, t, from, h, i)
			<-slots
		})
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return wire.Tests{}, err
		}
		if !list.Tests[i].OK {
			list.Failed++
		}
	}
	return list, nil
}

// one runs the i-th test of h.
func one(ctx context.Context, tryer Tryer, from dispatch.Origin, h *hook.Hook, i int) (wire.TestedAs, *wire.Error) {
	t := h.Tests[i]
	if ctx.Err() != nil {
		return wire.TestedAs{}, errEnded
	}
	env := Event(h, t)
	if past := before(h, t, env, time.Now()); past != nil {
		env.Past = past
	}
	trial, err := tryer.Rehearse(ctx, from, h, env, time.Time{})
	if err == nil && ctx.Err() != nil {
		err = errEnded
	}
	if err != nil {
		return wire.TestedAs{}, err
	}
	got := wire.TestedAs{
		Name: t.Name, Line: t.Line, Event: trial.Event.Envelope.Event, Tool: trial.Event.Tool,
		Subject: trial.Event.Subject, Expect: t.Expect, Reason: trial.Reason, Context: added(trial),
		NotRun: trial.Why, RunID: trial.Run.ID, DurationMS: trial.Run.DurationMS,
	}
	if got.Name == "" {
		got.Name = fmt.Sprintf("test %d", i+1)
	}
	got.Got, got.Why = judge(t, trial)
	got.OK = got.Why == ""
	return got, nil
}

var errEnded = &wire.Error{Code: wire.CodeInternal, Message: "the tests were not run to their end"}

// added is the context that a hook gave.
func added(t dispatch.Trial) string {
	if t.Verdict == nil {
		return ""
	}
	return t.Verdict.AdditionalContext
}

// judge says which answer a test got, and why that is not the one it expects; "" = it is.
func judge(t hook.Test, trial dispatch.Trial) (got, why string) {
	if broken := failure(trial.Run); broken != "" {
		return Failed, broken
	}
	got = string(trial.Decision)
	if changes(trial.Rewrote) && (got == hook.ExpectNone || t.Expect == hook.ExpectRewrite && got == hook.ExpectAllow) {
		got = hook.ExpectRewrite
	}
	switch {
	case got != t.Expect && trial.Why != "":
		return got, "it does not run: " + trial.Why
	case got != t.Expect && !trial.Blocks:
		return got, "it only observes this event: its answer does not count"
	case got != t.Expect && trial.Reason != "":
		return got, "it says: " + trial.Reason
	case got != t.Expect:
		return got, "expected " + t.Expect + ", got " + got
	case !strings.Contains(trial.Reason, t.Reason):
		return got, fmt.Sprintf("the reason has no %q in it: %s", t.Reason, trial.Reason)
	case !strings.Contains(added(trial), t.Context):
		return got, fmt.Sprintf("the context has no %q in it: %s", t.Context, added(trial))
	}
	return got, ""
}

// failure is why a run failed; "" = it did not, or there was none.
func failure(r wire.Run) string {
	switch r.Result {
	case "", wire.ResultOK, wire.ResultDeny:
		return ""
	}
	if r.Error == "" {
		return string(r.Result)
	}
	return r.Error
}
