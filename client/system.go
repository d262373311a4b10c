package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/base/system"
	_ "github.com/hookd/hookd/internal/contract/dialect" // the rows of events: which part of one a verdict replaces
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// layers are the two daemons that an event goes to on a machine with a system daemon:
// first that one, whose place no option and no variable changes, then the user's own,
// unless the first denies. An event that waits goes to the second one when its answer is
// received, with the rewrites of the first daemon; the events behind it go there after
// it.
type layers struct {
	place    system.Place
	required bool
	system   side
	own      side

	more  chan struct{} // has a value after each change of queue
	mu    sync.Mutex
	queue []sentEvent // events without an answer; guarded by mu
	owed  int         // events that the own daemon gets when they are received; guarded by mu
}

// side is a connection to one daemon.
type side struct {
	conn *Conn // nil = none
	err  error // why
}

// sentEvent is an event that the system daemon has got.
type sentEvent struct {
	event Event
	at    time.Time
	err   error // why it has not got it
	later bool  // the own daemon gets it when it is received
}

// openLayers connects to both daemons; nil where the machine has no system daemon, or the
// client is for that one alone.
func (c *Client) openLayers(ctx context.Context) *layers {
	place := system.Here()
	present, required := place.Look()
	if !present || c.Socket() == place.Socket {
		return nil
	}
	l := &layers{place: place, required: required, more: make(chan struct{}, 1)}
	upper := &Client{socket: place.Socket, timeout: c.timeout}
	l.system.conn, l.system.err = upper.dialOne(ctx)
	l.own.conn, l.own.err = c.dialOne(ctx)
	return l
}

// closeTime is how long the own daemon may take for events whose answers are not wanted.
const closeTime = time.Second

func (l *layers) close() error {
	l.mu.Lock()
	rest := l.queue
	l.queue = nil
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	for _, sent := range rest {
		if sent.later && !sent.event.Wait && l.own.err == nil {
			l.own.err = l.own.conn.sendOne(ctx, []Event{sent.event})
		}
	}
	var errs []error
	for _, s := range []side{l.system, l.own} {
		if s.conn != nil {
			errs = append(errs, s.conn.Close())
		}
	}
	return errors.Join(errs...)
}

// tell writes a line to both daemons.
func (l *layers) tell(line []byte) error {
	var errs []error
	for _, s := range []side{l.system, l.own} {
		if s.conn != nil {
			errs = append(errs, s.conn.tell(line))
		}
	}
	return errors.Join(errs...)
}

// send gives events to the system daemon, and to the user's own the events for which it
// need not wait. It fails only where neither gets them.
func (l *layers) send(ctx context.Context, list []Event) error {
	for _, ev := range list {
		sent := sentEvent{event: ev, at: time.Now(), err: l.system.err}
		upper := ev
		if ev.Wait {
			upper.ID = "" // it may be the id of its twin, and a verdict is asked for each time
		}
		if sent.err == nil {
			sent.err = l.system.conn.sendOne(ctx, []Event{upper})
		}
		l.mu.Lock()
		if sent.later = ev.Wait || l.owed > 0; sent.later {
			l.owed++
		}
		l.mu.Unlock()
		var lower error
		if !sent.later {
			if lower = l.own.err; lower == nil {
				lower = l.own.conn.sendOne(ctx, []Event{ev})
			}
		}
		l.mu.Lock()
		l.queue = append(l.queue, sent)
		l.mu.Unlock()
		select {
		case l.more <- struct{}{}:
		default: // the receiver looks anyway
		}
		if sent.err != nil && lower != nil {
			return lower // as the receiver gets it
		}
	}
	return nil
}

// receive returns the answer to the first event that has none yet.
func (l *layers) receive(ctx context.Context) (Answer, error) {
	sent, err := l.next(ctx)
	if err != nil {
		return Answer{}, err
	}
	if sent.later {
		defer func() {
			l.mu.Lock()
			l.owed--
			l.mu.Unlock()
		}()
	}
	upper, err := l.above(ctx, sent)
	switch {
	case !sent.event.Wait:
		return l.observed(ctx, sent, upper, err)
	case err != nil && l.mayBeGone(err):
		return l.below(ctx, sent, sent.event)
	case err != nil:
		none := wire.Answer{Warnings: []string{}, Matched: []string{}, Verdict: l.unanswered(sent.event, err)}
		return Answer{Answer: none}, nil
	case !upper.Verdict.Allowed || !upper.Verdict.Continue:
		upper.Verdict = verdict.Over(upper.Verdict, &Verdict{Allowed: true, Continue: true})
		return upper, nil
	}
	return l.decide(ctx, sent, upper)
}

// next takes the first event off the queue, and waits until there is one.
func (l *layers) next(ctx context.Context) (sentEvent, error) {
	for {
		l.mu.Lock()
		if len(l.queue) > 0 {
			sent := l.queue[0]
			l.queue = l.queue[1:]
			l.mu.Unlock()
			return sent, nil
		}
		l.mu.Unlock()
		select {
		case <-l.more:
		case <-ctx.Done():
			return sentEvent{}, fmt.Errorf("receive an answer: %w", ctx.Err())
		}
	}
}

// above waits for the system daemon's answer.
func (l *layers) above(ctx context.Context, sent sentEvent) (Answer, error) {
	if sent.err != nil {
		return Answer{}, sent.err
	}
	answer, err := l.system.conn.receiveOne(ctx)
	if err == nil && sent.event.Wait && answer.Verdict == nil {
		err = errors.New("it answered without a verdict")
	}
	return answer, err
}

// observed is the answer to an event that nothing decides: that of the user's own daemon.
// Where there is none it is the system daemon's.
func (l *layers) observed(ctx context.Context, sent sentEvent, upper Answer, failed error) (Answer, error) {
	answer, err := Answer{}, l.own.err
	if err == nil && sent.later {
		err = l.own.conn.sendOne(ctx, []Event{sent.event})
	}
	if err == nil {
		answer, err = l.own.conn.receiveOne(ctx)
	}
	switch {
	case err != nil && failed == nil:
		upper.own = err
		return upper, nil
	case err == nil && failed != nil:
		answer.Warnings = append(answer.Warnings, "the system daemon has not taken this event: "+failed.Error())
	}
	return answer, err
}

// decide asks the user's own daemon, about the event as the system daemon has rewritten
// it, and the system daemon again about a new input.
func (l *layers) decide(ctx context.Context, sent sentEvent, upper Answer) (Answer, error) {
	ev, first := sent.event, upper.Verdict
	if first.UpdatedInput != nil || first.UpdatedToolResponse != nil || first.UpdatedMessages != nil {
		ev, _ = rewritten(ev, first)
	}
	answer, err := l.below(ctx, sent, ev)
	if err != nil || answer.Verdict == nil {
		upper.own = err
		upper.Verdict = verdict.Over(first, &Verdict{Allowed: true, Continue: true})
		return upper, nil
	}
	if lower := answer.Verdict; lower.Allowed && lower.Continue && lower.UpdatedInput != nil {
		first = l.again(ctx, sent, ev, lower)
	}
	answer.Verdict = verdict.Over(first, answer.Verdict)
	return answer, nil
}

// again returns the verdict of the system daemon on an input that the user's own daemon
// has made. An input that it cannot be asked about is denied.
func (l *layers) again(ctx context.Context, sent sentEvent, ev Event, lower *Verdict) *Verdict {
	next, ok := rewritten(ev, lower)
	if !ok {
		return &Verdict{Continue: true, Message: "hooks have rewritten the input of an event that takes no other"}
	}
	next.ID, next.TimeoutMS = "", sent.left()
	err := l.system.conn.sendOne(ctx, []Event{next})
	var answer Answer
	if err == nil {
		answer, err = l.above(ctx, sentEvent{event: next})
	}
	if err != nil {
		return l.unanswered(next, err)
	}
	return answer.Verdict
}

// below asks the user's own daemon.
func (l *layers) below(ctx context.Context, sent sentEvent, ev Event) (Answer, error) {
	if l.own.err != nil {
		return Answer{}, l.own.err
	}
	ev.TimeoutMS = sent.left()
	if err := l.own.conn.sendOne(ctx, []Event{ev}); err != nil {
		return Answer{}, err
	}
	return l.own.conn.receiveOne(ctx)
}

// left is the rest of the event's budget, in milliseconds; 0 = it has none.
func (s sentEvent) left() int64 {
	if s.event.TimeoutMS == 0 {
		return 0
	}
	return max(s.event.TimeoutMS-time.Since(s.at).Milliseconds(), 1)
}

// mayBeGone reports whether the system daemon does not run, and need not. A daemon that
// hangs, refuses or is another user's process says nothing of a call, so that is denied.
func (l *layers) mayBeGone(err error) bool {
	return !l.required && errors.Is(err, ErrNotRunning) && !errors.Is(err, ErrForeign)
}

// goOn are kinds of events on which a denial makes the agent go on working: without an
// answer of the system daemon that would never end.
var goOn = []events.Kind{events.KindTurnStop, events.KindSubagentStop, "TeammateIdle", "TaskCompleted"}

// unanswered is the verdict where the system daemon has not answered.
func (l *layers) unanswered(ev Event, err error) *Verdict {
	why := fmt.Sprintf("hookd's system daemon has not checked this: %v; ", err)
	if l.required {
		why = fmt.Sprintf("hookd's system daemon must check this (required: true in %s) and has not: %v; ",
			l.place.Settings(), err)
	}
	why += "an administrator sees why with: sudo hookd --system doctor"
	if slices.Contains(goOn, events.For(events.Dialect(ev.Dialect), ev.Event).Kind) {
		return &Verdict{Allowed: true, Continue: true, SystemMessage: why}
	}
	return &Verdict{Continue: true, Message: why}
}

// rewritten returns the event with the parts that a verdict replaces; false if it
// replaces no part of such an event.
func rewritten(ev Event, v *Verdict) (Event, bool) {
	row := events.For(events.Dialect(ev.Dialect), ev.Event)
	value := map[events.Rewrite]json.RawMessage{
		events.RewriteInput: v.UpdatedInput, events.RewriteResponse: v.UpdatedToolResponse,
		events.RewriteMessages: v.UpdatedMessages,
	}[row.Rewrite]
	if row.Target == "" || value == nil {
		return ev, false
	}
	ev.Data = rawjson.With(ev.Data, rawjson.Member{Key: row.Target, Value: value})
	return ev, true
}
