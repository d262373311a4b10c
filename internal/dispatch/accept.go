package dispatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// replay names the event, and maybe the only hook, that an event repeats.
type replay struct{ of, only string }

var errDraining = &wire.Error{
	Code:       wire.CodeDraining,
	Message:    "hookd is shutting down",
	Hint:       "send it again when `hookd status` answers",
	RetryAfter: 1,
}

// acceptor lets events in: it checks them, gives them to the recorder, and their runs to the queue.
type acceptor struct {
	*lifetime
	verdicts  *verdicts
	backlog   *backlog
	observers *observers
	runs      *runs
	tracker   *callTracker
	decisions *decisions
	snapshots *snapshots
	chain     *chain
	prompts   *prompts

	order sync.Mutex // makes the order in which events are stored that of their numbers
}

// accept checks, stores and queues an event. sent is nil for one without an id.
func (ac *acceptor) accept(
	from Origin,
	env *events.Envelope,
	again *replay,
	sent *events.Sent,
) (rcpt Receipt, rest Rest, err *wire.Error) {
	ac.accepting.RLock()
	defer ac.accepting.RUnlock()
	if ac.draining {
		return rcpt, nil, errDraining
	}
	now := env.At
	if now.IsZero() {
		now = time.Now()
	}
	depth, err := ac.chain.depth(from, env.Parent, now)
	if err != nil {
		return rcpt, nil, err
	}
	index := ac.snapshots.index.Load()
	known := index.Named(env.Dialect, env.Event)
	e := passing.Get().(*events.Event)
	ac.fill(e, env, index, known, now)
	e.EventID, e.Depth = events.NewID(now), depth
	if b := env.Brought; b != nil {
		e.Machine, e.Depth = b.Machine, min(max(b.Depth, 0), MaxDepth)
		again = &replay{of: b.EventID, only: b.Hook}
	}
	matched := known.Match(e)
	if again != nil {
		e.ReplayOf = again.of
		if matched, err = again.narrow(matched); err != nil {
			return rcpt, nil, err
		}
	}
	looks := again == nil && ac.opts.Past.Looks(e.Contract)
	followed := trackedCall{tracked: again == nil && ac.tracker.tracks(e, env)}
	forUndo := ac.forUndo(e)
	if len(matched) > 0 || ac.recorder.HasSubscribers() || looks || followed.tracked || forUndo {
		followed.call = ac.tracker.about(e)
		e.Unread = false
	}
	if forUndo && e.Contract.Kind != events.KindToolBefore {
		ac.opts.Keeper.Note(e)
	}
	if len(matched) == 0 && !e.Wait && sent == nil {
		ac.beginPast(e, again, false)(wire.OutcomeNone)
		return ac.pass(e, followed)
	}
	if e.Sent = sent; !e.Owned {
		e.Data = bytes.Clone(e.Data)
	}
	a := &acceptance{
		d: ac, event: e, plan: newPlan(e, matched), sender: from, followed: followed,
		past: ac.beginPast(e, again, len(matched) > 0),
	}
	e.Judged = a.plan.judges() && !e.Trial
	if err := a.enter(); err != nil {
		a.past(wire.OutcomeDeny)
		return rcpt, nil, err
	}
	if !e.Judged {
		ac.tracker.track(e, followed)
	}
	if !a.decided() {
		a.past(wire.OutcomeNone)
	}
	if len(a.plan.matched) > 0 {
		ac.chain.remember(e)
	}
	rcpt = Receipt{EventID: e.EventID, Seq: e.Seq, Matched: names(a.plan.matched), Warnings: e.Warnings}
	return rcpt, a.rest(), nil
}

// fill makes e the event of an envelope that came now. Its ids and depth are the caller's.
func (ac *acceptor) fill(
	e *events.Event,
	env *events.Envelope,
	index *match.Index,
	known *match.Named,
	now time.Time,
) {
	e.Envelope, e.Time, e.Contract = *env, now.UTC(), known.Contract
	e.Dialect = cmp.Or(e.Dialect, e.Contract.Dialect)
	switch { // not before: an event that is sent again by another process is the same
	case env.Peer != nil:
		e.Data, e.Owned = withPeer(env.Data, env.Peer), true
	case !env.Peerless:
		if clean := withoutPeer(env.Data); len(clean) != len(env.Data) {
			e.Data, e.Owned = clean, true
		}
	}
	if plain := ac.opts.Boxes.Plain(e); plain != nil {
		e.Data, e.Owned = plain, true
	}
	e.Warnings = append(env.Warnings, e.Contract.Check(e.Data)...)

	e.Tool, e.Subject, e.CallID, e.Unread = "", "", "", true
	e.Trial = e.Tried && e.SessionID == events.ProbeSession
	e.ByAgent = false
	switch e.Contract.Kind {
	case events.KindSessionStart, events.KindSubagentStart, events.KindPromptSubmit:
		e.ByAgent = ac.opts.Past.ByAgent(e) && e.Contract.Kind == events.KindPromptSubmit
	}
	e.Project = ac.snapshots.projectOf(index, e.Cwd, now)
	if !e.Tried {
		ac.prompts.note(e)
	}
}

// withPeer returns data with the process that sent it, whatever data says of that.
func withPeer(data json.RawMessage, peer *events.Peer) json.RawMessage {
	value, _ := json.Marshal(peer) // two numbers and a text
	return rawjson.With(withoutPeer(data), rawjson.Member{Key: events.PeerKey, Value: value})
}

// withoutPeer returns data without the sender's claims about a process.
func withoutPeer(data json.RawMessage) json.RawMessage {
	given := data
	for key := range rawjson.Members(given) {
		if events.IsPeerKey(key) {
			data = rawjson.Without(data, key)
		}
	}
	return data
}

// passing has events that are not in use any more.
var passing = sync.Pool{New: func() any { return new(events.Event) }}

// largeData is from which size on an event for which no hook waits is prepared.
const largeData = 4 << 10

// prepare is Recorder.Prepare, unless that is quickly done later.
func (ac *acceptor) prepare(e *events.Event, kept bool) Prepared {
	if !kept && len(e.Data) <= largeData {
		return nil
	}
	return ac.recorder.Prepare(e, kept)
}

// pass accepts an event that has no hook and no waiting sender: only the
// stream has it. The event ends, and e with it, when pass returns.
func (ac *acceptor) pass(e *events.Event, w trackedCall) (Receipt, Rest, *wire.Error) {
	if len(e.Data) > largeData && !e.Owned {
		e.Data = bytes.Clone(e.Data)
	}
	if err := ac.number(e); err != nil {
		return Receipt{}, nil, err
	}
	ac.opts.Tap.Accepted(e, 0)
	ac.tracker.track(e, w)
	rcpt := Receipt{EventID: e.EventID, Seq: e.Seq, Matched: []string{}, Warnings: e.Warnings}
	*e = events.Event{} // which keeps the sender's buffer out of the pool
	passing.Put(e)
	return rcpt, nil, nil
}

// number hands an event without hooks to the recorder.
func (ac *acceptor) number(e *events.Event) *wire.Error {
	p := ac.prepare(e, false)
	ac.order.Lock()
	defer ac.order.Unlock()
	return ac.recorder.Accept(e, p, nil, nil)
}

// narrow leaves only the hook that is asked for.
func (r *replay) narrow(ms []match.Match) ([]match.Match, *wire.Error) {
	if r.only == "" {
		return ms, nil
	}
	for _, m := range ms {
		if m.Hook.ID == r.only || m.Hook.Name == r.only {
			m.At = 0
			return []match.Match{m}, nil
		}
	}
	return nil, &wire.Error{
		Code:    wire.CodeNotFound,
		Message: "no hook " + r.only + " runs for this event",
		Hint:    "see `hookd list`, and `hookd match EVENT` for why a hook does not run",
	}
}

// acceptance is an event on its way in.
type acceptance struct {
	d        *acceptor
	event    *events.Event
	plan     plan
	sender   Origin
	followed trackedCall
	tasks    []*task
	past     func(wire.Outcome)
	results  chan wire.Run    // nil unless the sender waits for observers
	room     bool             // the queue has reserved a place
	durable  bool             // the runs outlive the process; to be read after stored
	ruled    bool             // the UndoKeeper has changed the verdict
	undo     *wire.Kept       // what can be taken back of the call; nil = it destroys nothing that is known
	tells    bool             // see Keeping.Tell
	stored   chan *wire.Error // whether it is on disk; nil when it has nothing to store
}

// decided reports whether the sender waits for a verdict, which waits for no disk.
func (a *acceptance) decided() bool { return a.event.Wait && a.event.Contract.Decidable }

// enter makes room in the queue and hands the event to the recorder.
func (a *acceptance) enter() *wire.Error {
	d, e := a.d, a.event
	n := len(a.plan.queued) + len(a.plan.later)
	if a.room = n == 0 || d.observers.queue.reserve(e, n); !a.room && !d.recorder.Durable() {
		if !a.decided() {
			return &wire.Error{
				Code:       wire.CodeQueueFull,
				Message:    "the queue of events that wait for their hooks is full",
				Hint:       "send it again later; `hookd status` shows the queue",
				RetryAfter: 1,
			}
		}
		d.dropObservers(e, &a.plan)
		n, a.room = 0, true
	}
	if !a.room && len(a.plan.later) > 0 { // what happens to them is only known in a moment
		d.observers.queue.force(e, len(a.plan.later))
	}
	a.tasks, a.results = a.plan.tasks(e)
	kept := ids(a.plan)
	var stored func(bool, *wire.Error)
	if len(kept) > 0 || e.Sent != nil && !a.decided() {
		stored, a.stored = a.whenStored, make(chan *wire.Error, 1)
	}
	if e.Sent != nil {
		e.Sent.Matched = names(a.plan.matched)
	}
	d.pending.Add(len(a.tasks))
	p := d.prepare(e, len(kept) > 0)
	d.order.Lock()
	defer d.order.Unlock()
	if err := d.recorder.Accept(e, p, kept, stored); err != nil {
		a.withdraw()
		return err
	}
	if stored == nil || a.decided() {
		d.opts.Tap.Accepted(e, len(a.plan.matched))
	}
	return nil
}

// ids are the hooks whose runs are retained until they have ended: all but those
// that make the verdict.
func ids(p plan) (list []string) {
	for _, ms := range [][]match.Match{p.queued, p.nested, p.later} {
		for _, m := range ms {
			list = append(list, m.Hook.ID)
		}
	}
	return list
}

// whenStored learns whether the event is on disk, in the order of the events,
// and queues its runs. It must not block.
func (a *acceptance) whenStored(kept bool, err *wire.Error) {
	if err != nil && !a.decided() && len(a.plan.matched) > 0 {
		a.withdraw()
		a.stored <- err
		return
	}
	if !a.decided() {
		a.d.opts.Tap.Accepted(a.event, len(a.plan.matched))
	}
	for _, t := range a.tasks {
		t.durable = kept
	}
	a.durable = kept
	switch {
	case kept && a.d.backlog.takes(a):
		a.leave() // it has its turn when what is on disk before it had
	case a.room:
		a.d.observers.enqueue(a.tasks)
	default: // the disk failed just now, for an event that waits for its verdict
		a.d.observers.queue.force(a.event, len(a.tasks))
		a.d.observers.enqueue(a.tasks)
	}
	a.stored <- nil
}

// withdraw undoes enter for an event that is refused.
func (a *acceptance) withdraw() {
	a.leave()
	for range a.plan.later {
		a.d.observers.queue.abandon(a.event)
	}
}

// leave gives back the places of the queued runs.
func (a *acceptance) leave() {
	for range a.tasks {
		if a.room {
			a.d.observers.queue.abandon(a.event)
		}
		a.d.pending.Done()
	}
}

// rest is the part of the sender's wait beyond the acceptance.
func (a *acceptance) rest() Rest {
	if !a.event.Wait && a.stored == nil {
		return nil
	}
	a.d.pending.Add(1)
	return func(r *Receipt) *wire.Error {
		defer a.d.pending.Done()
		if a.decided() {
			a.decide(r)
			return nil
		}
		if a.stored != nil {
			if err := <-a.stored; err != nil {
				return err
			}
		}
		if a.event.Wait {
			a.startNested()
			timeout := a.event.TimeoutMS
			a.event, a.tasks = nil, nil // the wait may be long, and the runs have them
			r.Verdict, r.Runs = allowed(), awaitObservers(timeout, len(a.plan.matched), a.results)
		}
		return nil
	}
}

// decide answers with a verdict. Observers that it may stop start afterwards,
// when the disk has them.
func (a *acceptance) decide(r *Receipt) {
	var done []*attempt
	d := a.d
	var asks *Question
	var answered *wire.Answered
	if a.event.Judged && slices.ContainsFunc(a.plan.deciding, takesTime) {
		d.decisions.undecided(a.event)
	}
	r.Verdict, done, asks, answered = d.verdicts.decide(a.event, a.plan.deciding, a.sender)
	if r.Verdict = a.keepFirst(r.Verdict); asks != nil && r.Verdict.Asks() {
		asks.Verdict, asks.Undo = r.Verdict, a.undo
		verdict, byAsk := d.opts.Asks.Await(asks)
		r.Verdict, answered = verdict, cmp.Or(byAsk, answered)
	}
	r.Verdict = d.verdicts.boxed(a.event, r.Verdict, answered)
	outcome, _ := outcomeOf(r.Verdict)
	if outcome == wire.OutcomeDeny && a.event.Contract.Kind == events.KindToolBefore && d.forUndo(a.event) {
		d.opts.Keeper.Drop(a.event)
		a.undo = nil
	}
	a.settlePast(heardAs(a.event, r.Verdict))
	d.opts.Tap.Decided(a.event, r.Verdict, answered)
	if a.event.Judged || a.ruled {
		rec := d.decisions.decided(a.event, r.Verdict, done)
		rec.Answered, rec.Kept = answered, a.undo
		d.tracker.judged(rec, a.event, r.Verdict, a.followed)
		if len(a.plan.shadows) > 0 {
			d.verdicts.runShadows(rec, a.event, a.plan.shadows, done, a.followed)
		} else {
			d.decisions.recordDecision(rec, a.event, done, a.followed, d.tracker.settling(a.event, a.followed))
		}
	}
	r.Verdict = a.tellsKept(r.Verdict)
	r.Runs = runsOf(done)
	if len(a.plan.later) == 0 {
		return
	}
	d.pending.Go(func() {
		<-a.stored
		a.startLater(done)
	})
}

// settlePast gives the event its fate. Whether a question that the agent cannot ask has denied the call, its bridge
// says: until then the call counts.
func (a *acceptance) settlePast(outcome wire.Outcome) {
	recorded := a.event.Judged || a.ruled // then the bridge is waited for
	if outcome != wire.OutcomeAsk || a.event.Hearing == nil || !recorded || dialect.AsksItself(a.event) {
		a.past(outcome)
		return
	}
	a.followed.past = a.past
}

// heardAs is a verdict as the agent takes it.
func heardAs(e *events.Event, v *verdict.Verdict) wire.Outcome {
	outcome, _ := outcomeOf(v)
	if e.Unattended && outcome == wire.OutcomeAsk {
		return wire.OutcomeDeny
	}
	return outcome
}

// dropObservers leaves the observers out of a decidable event: a verdict is
// never refused because others queue. The sender learns that they were left out.
func (ac *acceptor) dropObservers(e *events.Event, p *plan) {
	for _, m := range append(p.queued, p.later...) {
		e.Warnings = append(e.Warnings, "the queue is full: hook "+m.Hook.Name+" does not run for this event")
		ac.log.Warn(
			"queue full, observer dropped",
			zap.String("hook", m.Hook.Name),
			zap.String("event", e.Envelope.Event),
			zap.String("event_id", e.EventID),
		)
	}
	p.queued, p.later, p.matched = nil, nil, p.deciding
}

// startLater queues the observers that deciding hooks of their file let through.
func (a *acceptance) startLater(done []*attempt) {
	d := a.d
	for _, m := range a.plan.later {
		t := &task{event: a.event, match: m, durable: a.durable}
		if aborted(done, m) {
			d.observers.queue.abandon(a.event)
			d.recorder.Finished(t.key(), wire.Run{}, t.fate(wire.Run{}, time.Time{}))
			continue
		}
		d.pending.Add(1)
		d.observers.enqueue([]*task{t})
	}
}

// startNested runs the observers that a hook waits for at once: their slots
// are those of their depth, so that a hook cannot wait for its own place.
func (a *acceptance) startNested() {
	d, depth := a.d, a.event.Depth
	for _, m := range a.plan.nested {
		t := &task{event: a.event, match: m, result: a.results, durable: a.durable, nested: true}
		d.pending.Add(1)
		go func() {
			attempt := t.newAttempt()
			if !d.verdicts.slots.take(d.ctx, depth) {
				t.report(d.runs.unstarted(attempt, "hookd was stopped").run)
				d.pending.Done()
				return
			}
			d.runs.execute(attempt, nil, func(bool) {
				defer d.pending.Done()
				d.verdicts.slots.give(depth)
				t.report(attempt.run)
			})
		}()
	}
}

// awaitObservers collects n runs of observers. A timeout of the sender, in milliseconds, ends the
// wait, not the runs.
func awaitObservers(timeout int64, n int, results <-chan wire.Run) (runs []wire.Run) {
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(time.Duration(timeout) * time.Millisecond)
		defer timer.Stop()
		expired = timer.C
	}
	for len(runs) < n {
		select {
		case r := <-results:
			runs = append(runs, withoutOutput(r))
		case <-expired:
			return runs
		}
	}
	return runs
}

// enter counts one more thing that Drain waits for; false while draining.
func (l *lifetime) enter() bool {
	l.accepting.RLock()
	defer l.accepting.RUnlock()
	if !l.draining {
		l.pending.Add(1)
	}
	return !l.draining
}
