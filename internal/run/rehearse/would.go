package rehearse

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// Would is the decision that the hooks of the settings would make about an event.
type Would struct {
	Decision string   // as hook.Expectations has them
	Reason   string   // of a denial, or of an ask
	Hooks    []string // that decide so
	Rewrote  []string // of input, result, messages, context
	Failed   []string // hooks that failed, with why; what that denies is part of Decision
}

// ToolCall returns the event of an agent that is about to call a tool, which may have its
// canonical name. session may be "". It is false for an agent that has no such event.
func ToolCall(agent events.Dialect, call hook.Test, session string) (events.Envelope, bool) {
	rows := events.All()
	i := slices.IndexFunc(rows, func(c *events.Contract) bool {
		return c.Dialect == agent && c.Kind == events.KindToolBefore && c.ToolMatched && c.Tools == ""
	})
	if i < 0 {
		return events.Envelope{}, false
	}
	call.Event, call.Dialect = rows[i].Name, agent
	env := Event(&hook.Hook{}, call)
	env.SessionID = session
	if match.IsField(rows[i], "session_id") {
		env.Data = rawjson.With(env.Data, rawjson.StringMember("session_id", session))
	}
	return env, true
}

// WouldLocal asks the hooks that decide about an event how they would decide it, without
// a daemon: each runs here, with WhatIfVariable in its environment, in a Dispatcher that
// records nothing, and their answers make a verdict as those of a daemon do. Hooks that
// observe, and those in the shadow, do not run.
func WouldLocal(ctx context.Context, c config.Config, env events.Envelope) (w Would, err error) {
	snap := deciding(c, env)
	env.Wait, env.ID = true, ""
	err = locally(ctx, c, func(d *dispatch.Dispatcher) *wire.Error {
		d.Publish(snap)
		r, refused := d.Emit(dispatch.Origin{}, env)
		if refused == nil {
			w = would(r)
		}
		return refused
	})
	return w, err
}

// deciding returns a snapshot of the hooks that decide about an event alone.
func deciding(c config.Config, env events.Envelope) *hook.Snapshot {
	decides := map[string]bool{}
	for _, m := range catalog.Match(c, env).Hooks {
		decides[m.Hook] = m.Blocks
	}
	only := &hook.Snapshot{}
	for _, e := range catalog.Scan(c).Entries {
		if e.Hook == nil || !decides[e.Hook.Name] {
			continue
		}
		asked := *e.Hook
		asked.Env = append(slices.Clip(asked.Env), WhatIfVariable)
		e.Hook = &asked
		only.Entries = append(only.Entries, e)
	}
	return only
}

// would turns the verdict of a receipt into a Would.
func would(r dispatch.Receipt) Would {
	if r.Verdict == nil {
		return Would{Decision: string(wire.OutcomeNone)}
	}
	outcome, reason, rewrote := dispatch.OutcomeOf(r.Verdict)
	w := Would{Decision: word(outcome, changes(rewrote)), Reason: reason, Hooks: r.Verdict.DecidedBy, Rewrote: rewrote}
	for _, run := range r.Runs {
		if why := failure(run); why != "" {
			w.Failed = append(w.Failed, fmt.Sprintf("%s: %s", run.Hook, why))
		}
	}
	return w
}
