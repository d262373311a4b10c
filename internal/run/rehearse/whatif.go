package rehearse

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// WhatIfVariable is in the environment of a hook that is asked about the past: the hook
// should leave out everything besides answering.
const WhatIfVariable = "HOOKD_WHATIF=1"

// Past is an event of the past, and the decision about it.
type Past struct {
	events.Envelope
	EventID  string
	Time     time.Time
	Tool     string
	Subject  string
	Whole    bool           // Envelope has all of the data
	Redacted bool           // secrets were taken out of it
	Decision *wire.Decision // nil = no hook took part
	Other    bool           // the hook is not for it: it only happened before others
	// Others returns the decisions of the other hooks, each in a word. It is only asked for
	// where the hook in question alone made the decision.
	Others func() ([]wire.Outcome, error)
}

// event is the event as hooks that look back are told it.
func (p Past) event() *events.Event {
	e := &events.Event{
		Envelope: p.Envelope, EventID: p.EventID, Time: p.Time, Contract: events.For(p.Dialect, p.Envelope.Event),
	}
	e.Dialect = e.Contract.Dialect
	e.CallID = dialect.CallID(e)
	return e
}

func (p Past) decided() wire.Outcome {
	if p.Decision == nil {
		return wire.OutcomeNone
	}
	return p.Decision.Decision
}

// WhatIf is the set of changes that a hook would have made.
type WhatIf struct {
	Hook     string    `json:"hook"`
	Since    time.Time `json:"since,omitzero"`
	Asked    int       `json:"asked"`    // events that the hook was held against
	Ran      int       `json:"ran"`      // of these, the calls that it runs for
	Failed   int       `json:"failed"`   // of these, those for which it failed
	Cut      int       `json:"cut"`      // events of which not all data was kept: they cannot be judged
	Redacted int       `json:"redacted"` // events whose secrets were taken out: they cannot be judged
	Stopped  bool      `json:"stopped"`  // it was ended before all events were looked at
	TookMS   float64   `json:"took_ms"`
	Changes  []Change  `json:"changes"`            // newest first
	LeftOut  int       `json:"left_out,omitempty"` // changes that are not in the list, see Shortened
	Counts   Counts    `json:"counts"`
	Error    string    `json:"error,omitempty"` // of the newest run that failed
}

// Counts is how many events were decided so then, and would be decided so now, in the
// words of a Change; events that stay as they were are counted, too.
type Counts map[string]map[string]int

func (c Counts) add(then, now string) {
	if c[then] == nil {
		c[then] = map[string]int{}
	}
	c[then][now]++
}

// Shortened returns w with at most so many changes of each kind, the newest. LeftOut has
// the others.
func (w WhatIf) Shortened(most int) WhatIf {
	kept, seen := []Change{}, Counts{}
	for _, c := range w.Changes {
		if seen.add(c.Then, c.Now); seen[c.Then][c.Now] <= most {
			kept = append(kept, c)
		}
	}
	w.LeftOut += len(w.Changes) - len(kept)
	w.Changes = kept
	return w
}

// Change is an event that would be decided otherwise.
type Change struct {
	EventID   string         `json:"event_id"`
	Time      time.Time      `json:"time"`
	Event     string         `json:"event"`
	Dialect   events.Dialect `json:"dialect,omitempty"`
	SessionID string         `json:"session_id,omitempty"`
	AgentName string         `json:"agent_name,omitempty"`
	Cwd       string         `json:"cwd,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Subject   string         `json:"subject,omitempty"`
	Then      string         `json:"then"` // deny, ask, allow, none or rewrite
	Now       string         `json:"now"`
	Reason    string         `json:"reason,omitempty"` // that the hook gives now
	Was       string         `json:"was,omitempty"`    // the reason then
}

// Asking is a hook that is asked about the past. Its methods may be called at once.
type Asking struct {
	tryer Tryer
	hook  *hook.Hook
	past  *runner.Past // of a hook that looks back; nil = it does not

	mu    sync.Mutex // guards what is below
	begun time.Time
	sum   WhatIf
	wrong time.Time // of the event that sum.Error is about
}

// Ask returns an Asking of h, which runs with WhatIfVariable in its environment. A
// persistent hook that does not say how many workers it may have gets one a processor.
func Ask(t Tryer, h *hook.Hook) *Asking {
	asked := *h
	asked.Env = append(slices.Clip(h.Env), WhatIfVariable)
	asked.Shadow = false
	if h.Persistent {
		asked.Concurrency = cmp.Or(h.Concurrency, runtime.NumCPU())
	}
	sum := WhatIf{Hook: h.Name, Changes: []Change{}, Counts: Counts{}}
	a := &Asking{tryer: t, hook: &asked, begun: time.Now(), sum: sum}
	if h.Rules.Looks() {
		home, _ := os.UserHomeDir() // without one, ~ stays in targets
		a.past = runner.NewSequence(&asked, home)
	}
	return a
}

// About asks the hook about one event. An error means that it could not be asked.
func (a *Asking) About(ctx context.Context, p Past) error {
	if ctx.Err() != nil { // what was read ahead is not asked any more
		return ctx.Err()
	}
	if a.past != nil && (p.Other || !p.Whole || p.Redacted) {
		a.past.Happened(p.event(), p.decided(), nil)
	}
	if p.Other {
		return nil
	}
	if !p.Whole || p.Redacted {
		a.mu.Lock()
		defer a.mu.Unlock()
		if p.Whole {
			a.sum.Redacted++
		} else {
			a.sum.Cut++
		}
		return nil
	}
	env := p.Envelope
	env.Wait, env.ID = true, ""
	if a.past != nil {
		env.Past = a.past
	}
	trial, refused := a.tryer.Rehearse(ctx, dispatch.Origin{}, a.hook, env, p.Time)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused != nil {
		return refused
	}
	if a.past != nil {
		a.past.End(trial.Event.EventID, p.decided())
	}
	change, err := a.compare(p, trial)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Asked++
	if trial.Job != nil {
		a.sum.Ran++
	}
	if why := failure(trial.Run); why != "" {
		if a.sum.Failed++; a.sum.Failed == 1 || p.Time.After(a.wrong) {
			a.sum.Error, a.wrong = why, p.Time
		}
	}
	if a.sum.Counts.add(change.Then, change.Now); change.Then != change.Now {
		a.sum.Changes = append(a.sum.Changes, change)
	}
	return nil
}

// Sum returns the results known so far.
func (a *Asking) Sum() WhatIf {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.sum
	sum.TookMS = float64(time.Since(a.begun).Microseconds()) / 1000
	sum.Changes, sum.Counts = slices.Clone(a.sum.Changes), Counts{}
	for then, counts := range a.sum.Counts {
		sum.Counts[then] = maps.Clone(counts)
	}
	slices.SortFunc(sum.Changes, func(x, y Change) int {
		return cmp.Or(y.Time.Compare(x.Time), cmp.Compare(y.EventID, x.EventID))
	})
	return sum
}

// Seen returns how many events were looked at, and how many would change.
func (a *Asking) Seen() (events, changes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum.Asked + a.sum.Cut + a.sum.Redacted, len(a.sum.Changes)
}

// compare returns the past decision and the decision that the hook's answer now makes, which may
// be the same.
func (a *Asking) compare(p Past, now dispatch.Trial) (Change, error) {
	was := p.Decision
	if was == nil {
		was = &wire.Decision{Decision: wire.OutcomeNone}
	}
	alone := len(was.DecidedBy) == 1 && was.DecidedBy[0] == a.hook.Name
	rest, rewritten := was.Decision, changes(was.Rewrote)
	if alone { // without it the decision would be that of the others
		rewritten = false
		if rest = wire.OutcomeNone; now.Decision != was.Decision && p.Others != nil {
			others, err := p.Others()
			if err != nil {
				return Change{}, err
			}
			for _, o := range others {
				rest = stricter(rest, o)
			}
		}
	}
	answer := wire.OutcomeNone
	if now.Blocks {
		answer = now.Decision
		rewritten = rewritten || changes(now.Rewrote)
	}
	return Change{
		EventID: p.EventID, Time: p.Time, Event: p.Envelope.Event, Dialect: p.Dialect, SessionID: p.SessionID,
		AgentName: p.AgentName, Cwd: p.Cwd, Tool: p.Tool, Subject: p.Subject,
		Then: word(was.Decision, changes(was.Rewrote)), Now: word(stricter(rest, answer), rewritten),
		Reason: now.Reason, Was: was.Reason,
	}, nil
}

// changes reports whether more than context is among the parts that were rewritten.
func changes(rewrote []string) bool {
	return slices.ContainsFunc(rewrote, func(part string) bool { return part != "context" })
}

// word is the name that a person reads for a decision.
func word(o wire.Outcome, rewritten bool) string {
	if o == wire.OutcomeNone && rewritten {
		return hook.ExpectRewrite
	}
	return string(o)
}

// stricter is the one of two outcomes that a verdict takes.
func stricter(x, y wire.Outcome) wire.Outcome {
	all := wire.Outcomes()
	rank := func(o wire.Outcome) int {
		if i := slices.Index(all, o); i >= 0 {
			return i
		}
		return len(all)
	}
	if rank(y) < rank(x) {
		return y
	}
	return x
}

// ahead is how many events are read while others are asked about.
const ahead = 400

// mostBefore is how many events a hook that looks back is asked about, the newest.
const mostBefore = 100_000

// inOrder asks about every event that past yields, the newest first, in the order in which
// they happened.
func inOrder(ctx context.Context, a *Asking, past func(each func(Past) error) error) error {
	var list []Past
	enough := errors.New("enough")
	err := past(func(p Past) error {
		if list = append(list, p); len(list) == mostBefore {
			return enough
		}
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, enough) {
		return err
	}
	for _, p := range slices.Backward(list) {
		if err := a.About(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// All asks about every event that past yields, several at once: as many as the hook has
// workers and one more, which waits, or as there are processors twice. A hook that looks back is
// asked about one after the other, as they happened.
func All(ctx context.Context, a *Asking, past func(each func(Past) error) error) error {
	if a.past != nil {
		return inOrder(ctx, a, past)
	}
	workers := 2 * runtime.NumCPU()
	if a.hook.Persistent {
		workers = a.hook.Concurrency + 1
	}
	next := make(chan Past, ahead)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var asked sync.WaitGroup
	for range workers {
		asked.Go(func() {
			for p := range next {
				if err := a.About(ctx, p); err != nil {
					stop(err)
				}
			}
		})
	}
	err := past(func(p Past) error {
		select {
		case next <- p:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(next)
	asked.Wait()
	return cmp.Or(err, context.Cause(ctx))
}
