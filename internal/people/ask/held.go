package ask

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

const (
	maxEnded = 1000     // ended asks whose outcome a late answer gets
	maxShown = 16 << 10 // of a call's input, in lists and events
)

// held is one ask. Its wire.Ask is never changed except for Answered.
type held struct {
	wire.Ask
	kind     events.Kind
	eventSeq uint64
	callID   string // of the tool call; "" = the event is about none
	asking   []dispatch.Asking
	about    calls // nil = the call cannot be compared with another
	decided  []string
	digest   string // of the ask, which an allow carries
	ownWay   bool   // without an answer the agent asks itself
	cards    card.Options
	agent    string // its own name; "" = the event has none
	uid      *int   // of the sender, as the kernel says; nil = the user of the daemon
	tree     Tree
	size     int
	timer    *time.Timer
	done     chan struct{} // closed when answered is final
	once     sync.Once     // for what follows that

	// Guarded by Holder.mu until done is closed.
	answered *wire.Answered
	refused  []wire.Refused
}

// hold makes an ask from the open part of q and publishes it to each follower; nil when it
// cannot be held after all.
func (h *Holder) hold(
	q *dispatch.Question,
	asking []dispatch.Asking,
	about calls,
	now time.Time,
	wait time.Duration,
) *held {
	tree := h.opts.Tree(q.Sender)
	if tree == nil || q.Handle != nil && q.Handle.HasEnded() { // the tree may be another process's
		return nil
	}
	e := q.Event
	input := dialect.Call(e).Given
	if q.Verdict.UpdatedInput != nil {
		input = q.Verdict.UpdatedInput
	}
	a := &held{
		Ask: wire.Ask{
			ID: events.NewID(now), EventID: e.EventID, Event: e.Envelope.Event,
			Hook: asking[0].Hook.Name, Reason: reasons(asking),
			Agent: agentOf(e), AgentID: e.AgentID, Dialect: e.Dialect, Tried: e.Tried,
			SessionID: e.SessionID, Cwd: e.Cwd, Tool: e.Tool, Subject: e.Subject, Input: input, Bytes: len(input),
			Rewrote: q.Verdict.UpdatedInput != nil, Since: now.UTC(), Until: now.Add(wait).UTC(),
		},
		kind: e.Contract.Kind, eventSeq: e.Seq, callID: e.CallID, asking: asking, about: about,
		decided: q.Verdict.DecidedBy, ownWay: dialect.AsksItself(e),
		agent: e.AgentName, uid: userOf(e), tree: tree, size: len(e.Data), done: make(chan struct{}),
	}
	if len(asking) > 1 {
		for _, one := range asking {
			a.Hooks = append(a.Hooks, one.Hook.Name)
		}
	}
	a.draw(&h.opts, q)
	data := a.eventData(h.opts.Redact)
	h.save(a, nil, min(wait/4, rowTime)) // nothing can answer it before
	h.mu.Lock()
	if h.closed || len(h.held) >= maxHeld || h.bytes+a.size > maxHeldBytes {
		h.mu.Unlock()
		h.opts.Store.DropAsk(a.ID)
		return nil
	}
	h.held[a.ID] = a
	h.bytes += a.size
	a.timer = time.AfterFunc(time.Until(a.Until), func() { h.end(a, &wire.Answered{By: wire.ByTimeout}) })
	h.followers.publish("ask", a)
	h.mu.Unlock()
	h.opts.Emit(events.EventAsk, data)
	h.log.Info("a call waits for an answer", zap.String("ask", a.ID), zap.String("hook", a.Hook),
		zap.String("event_id", a.EventID), zap.Duration("at_most", wait))
	return a
}

// draw makes the short card of an ask, and notes the values that the whole card needs.
func (a *held) draw(o *Options, q *dispatch.Question) {
	e := *q.Event
	if a.Rewrote {
		e.Data = rewrittenData(q)
	}
	seen := o.Look(&e)
	a.cards = card.Options{
		Agent: a.Agent, OwnWay: a.ownWay, Tried: a.Tried, Prompt: o.Prompt(a.SessionID, a.Dialect),
		Repo: seen.Repo, Effects: seen.Effects, Undo: q.Undo, Box: q.Verdict.Contains(), Opens: q.Verdict.Opens,
	}
	for _, one := range a.asking {
		a.cards.Asking = append(a.cards.Asking, card.Asking{Hook: one.Hook.Name, Reason: one.Reason})
		// In an input that was rewritten, it is a place in a text that is not shown.
		if s, is := spanOf(a.Input, seen.Text, one); is && !a.Rewrote {
			a.cards.Spans = append(a.cards.Spans, s)
		}
	}
	a.digest = card.Digest(&a.Ask)
	short := a.cards
	short.Short = true
	a.Card = card.Make(&a.Ask, a.digest, short)
}

// spanOf returns the part of the input that made a hook ask, which names a part of text. is is false
// where it names none, or it is not certain which argument is text.
func spanOf(input json.RawMessage, text string, by dispatch.Asking) (s wire.CardSpan, is bool) {
	s = wire.CardSpan{Hook: by.Hook.Name, From: by.Span[0], To: by.Span[1]}
	if s.From >= s.To || s.To > len(text) {
		return s, false
	}
	for name, value := range rawjson.Members(input) {
		if given, isText := rawjson.Text(value); !isText || given != text {
			continue
		}
		if s.Argument != "" {
			return s, false
		}
		s.Argument = name
	}
	return s, s.Argument != ""
}

// agentOf is the name that people give the agent that sent e.
func agentOf(e *events.Event) string {
	if e.Tried {
		return "hookd emit"
	}
	return cmp.Or(e.AgentName, string(e.Dialect), e.Sender)
}

// userOf returns the uid of an event's sender where it may be another than the daemon's;
// nil where it is not.
func userOf(e *events.Event) *int {
	if e.Peer == nil {
		return nil
	}
	return &e.Peer.UID
}

// keptAsk is an ask on disk: the fields that its record needs if the daemon does not end it.
type keptAsk struct {
	Ask       wire.Ask    `json:"ask"`
	Kind      events.Kind `json:"kind"`
	EventSeq  uint64      `json:"event_seq"`
	CallID    string      `json:"call_id,omitempty"`
	AgentName string      `json:"agent_name"`
	DecidedBy []string    `json:"decided_by"`
}

// record is the text on disk for a; answered is its outcome, nil = nothing yet.
func (a *held) record(answered *wire.Answered) []byte {
	kept := keptAsk{
		Ask: a.Ask, Kind: a.kind, EventSeq: a.eventSeq, CallID: a.callID, AgentName: a.agent, DecidedBy: a.decided,
	}
	kept.Ask.Input, kept.Ask.Card = nil, nil // it may have secrets, and nothing looks at it again
	kept.Ask.Answered = answered
	text, err := json.Marshal(kept)
	if err != nil {
		return []byte("{}") // texts and times alone: it cannot fail
	}
	return text
}

// save puts a on the disk with its outcome, and waits for that for so long.
// Without its row an ask is held all the same: a person's answer is worth more than the
// record, should hookd be killed.
func (h *Holder) save(a *held, answered *wire.Answered, within time.Duration) {
	inMemory, written := h.opts.Store.SaveAsk(store.Saved{ID: a.ID, EventSeq: a.eventSeq, Text: a.record(answered)})
	var err error
	select {
	case err = <-written:
	case <-time.After(within): // the disk may hang for longer
		err = context.DeadlineExceeded
	}
	if err != nil && !inMemory {
		h.log.Warn("an ask is not on disk: if hookd is killed now, nothing records how it ended",
			zap.String("ask", a.ID), zap.Error(err))
	}
}

// EndLast records the asks that the previous daemon held, with the answers that
// agents may not have got.
func (h *Holder) EndLast(ctx context.Context) {
	left, err := h.opts.Store.Asks(ctx)
	if err != nil {
		h.log.Warn("asks of the last run of hookd cannot be read", zap.Error(err))
		return
	}
	for _, k := range left {
		var was keptAsk
		if json.Unmarshal(k.Text, &was) != nil || was.Ask.EventID == "" {
			h.opts.Store.DropAsk(k.ID)
			continue
		}
		h.endLast(was)
	}
}

func (h *Holder) endLast(was keptAsk) {
	a := &held{Ask: was.Ask}
	decision, told := wire.OutcomeAsk, wire.Told{Unsure: dispatch.Unanswered}
	clean := func(text string) string { return escape.Line(string(h.opts.Redact([]byte(text))), wire.ReasonBytes) }
	reason := clean(a.Reason) + " (hookd was ended before an answer came)"
	if given := a.Answered; given == nil {
		a.Answered = &wire.Answered{By: wire.ByRestart, AskID: a.ID, Time: time.Now().UTC()}
	} else if given.Answer != "" {
		decision, told.Unsure = given.Answer, dispatch.Unheard
		reason = clean(saidBy(given, a.Reason)) +
			" (hookd was ended then: the agent may not have got it)"
	}
	var guarded wire.Guarded
	if was.CallID != "" {
		guarded = wire.GuardedAsked
	}
	h.opts.Record(&wire.Decision{
		EventID: a.EventID, EventSeq: was.EventSeq, Time: a.Since, Event: a.Event, Kind: was.Kind,
		Dialect: a.Dialect, AgentID: a.AgentID, AgentName: was.AgentName, SessionID: a.SessionID, Cwd: a.Cwd,
		Tool: a.Tool, Subject: a.Subject, CallID: was.CallID, Guarded: guarded, Tried: a.Tried,
		Decision: decision, Reason: reason, Told: &told,
		DecidedBy: was.DecidedBy, Answered: a.Answered,
	})
	h.opts.Emit(events.EventAnswered, a.eventData(h.opts.Redact))
	h.log.Warn("hookd was ended while an ask was held", zap.String("ask", a.ID), zap.String("event_id", a.EventID),
		zap.String("answered_by", a.Answered.By))
}

// end ends an ask that has no answer yet.
func (h *Holder) end(a *held, answered *wire.Answered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.answered == nil {
		h.claim(a, answered)
		h.release(a)
	}
}

// claim makes answered the outcome of a. h.mu is held.
func (h *Holder) claim(a *held, answered *wire.Answered) {
	answered.AskID, answered.Time = a.ID, time.Now().UTC()
	answered.HeldMS = float64(answered.Time.Sub(a.Since).Microseconds()) / 1000
	a.answered = answered
	a.timer.Stop()
	delete(h.held, a.ID)
	h.bytes -= a.size
	h.ended = append(h.ended, a)
	if len(h.ended) > maxEnded {
		h.ended = slices.Delete(h.ended, 0, len(h.ended)-maxEnded)
	}
}

// release lets the sender of a claimed ask go on. h.mu is held.
func (h *Holder) release(a *held) {
	a.answered.Refused = a.refused
	a.Answered = a.answered
	a.Input, a.about, a.Card, a.cards = nil, nil, nil, card.Options{} // they may be large, and an ended ask is kept
	h.followers.publish("answered", a)
	close(a.done)
}

// over emits the event of an ask that has ended.
func (h *Holder) over(a *held) {
	a.once.Do(func() {
		h.opts.Emit(events.EventAnswered, a.eventData(h.opts.Redact))
	})
}

// eventData is the event that hooks get about an ask, as redact leaves it. It has the commands that
// a person types to answer.
func (a *held) eventData(redact func([]byte) []byte) json.RawMessage {
	shown := a.Ask
	shown.Reason = string(redact([]byte(shown.Reason)))
	if shown.Card != nil {
		shown.Card = a.redactedCard(&shown, redact)
	}
	if len(shown.Input) > maxShown {
		shown.Input = nil
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return json.RawMessage("{}") // of our own types: it cannot fail
	}
	members := []rawjson.Member{
		rawjson.StringMember("show", "hookd ask "+a.ID), rawjson.StringMember("deny", "hookd ask deny "+a.ID),
	}
	if shown.Card != nil && shown.Card.Digest != "" {
		members = append(members, rawjson.StringMember("allow", "hookd ask allow "+a.ID+" --digest "+shown.Card.Digest))
	}
	return rawjson.With(text, members...)
}

// redactedCard makes the short card for hooks. redact takes secrets out of the card and of
// shown; a card without a secret of the call is not whole.
func (a *held) redactedCard(shown *wire.Ask, redact func([]byte) []byte) *wire.Card {
	o := a.cards
	o.Short = true
	o.Prompt = string(redact([]byte(o.Prompt)))
	o.Asking = slices.Clone(o.Asking)
	for i := range o.Asking {
		o.Asking[i].Reason = string(redact([]byte(o.Asking[i].Reason)))
	}
	if shown.Input != nil {
		clean := redact(shown.Input)
		o.Masked = !bytes.Equal(clean, shown.Input)
		if shown.Input = clean; !json.Valid(clean) {
			shown.Input = nil
		}
	}
	if o.Masked {
		o.Spans = nil // they are places in the whole input
	}
	return card.Make(shown, a.digest, o)
}

// List returns the asks that are held, the oldest first. Input is only there when it
// is short.
func (h *Holder) List() []wire.Ask {
	h.endGone()
	h.mu.Lock()
	defer h.mu.Unlock()
	return shortAsks(h.held)
}

// shortAsks returns asks as lists show them, the oldest first. Holder.mu is held.
func shortAsks(all map[string]*held) []wire.Ask {
	list := make([]wire.Ask, 0, len(all))
	for _, a := range all {
		list = append(list, short(a.Ask))
	}
	slices.SortFunc(list, func(a, b wire.Ask) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// short is an ask as lists show it.
func short(a wire.Ask) wire.Ask {
	if len(a.Input) > maxShown {
		a.Input = nil
	}
	return a
}

// Sessions returns the sessions with a held ask, in no order and some of them twice.
func (h *Holder) Sessions() []store.SessionKey {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]store.SessionKey, 0, len(h.held))
	for _, a := range h.held {
		list = append(list, store.SessionKey{ID: a.SessionID, Dialect: a.Dialect})
	}
	return list
}

// Get returns an ask, also one of the last that have ended, with all of its input and a
// whole card.
func (h *Holder) Get(id string) (wire.Ask, *wire.Error) {
	h.mu.Lock()
	a, bad := h.find(id)
	if bad != nil {
		h.mu.Unlock()
		return wire.Ask{}, bad
	}
	found, digest, o := a.Ask, a.digest, a.cards
	h.mu.Unlock()
	if found.Card != nil && !found.Card.Whole {
		found.Card = card.Make(&found, digest, o)
	}
	return found, nil
}

// find returns the ask with an id, or the only one whose id ends so. h.mu is held.
func (h *Holder) find(id string) (*held, *wire.Error) {
	id = strings.ToUpper(id)
	if a := h.held[id]; a != nil {
		return a, nil
	}
	var fits []*held
	add := func(a *held) {
		if id != "" && strings.HasSuffix(a.ID, id) {
			fits = append(fits, a)
		}
	}
	for _, a := range h.held {
		add(a)
	}
	if len(fits) == 0 { // an ended one must not make the end of an open one ambiguous
		for _, a := range h.ended {
			add(a)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return nil, &wire.Error{
			Code: wire.CodeNotFound, Message: fmt.Sprintf("no ask %q is held", id), Hint: "see `hookd ask`",
		}
	}
	return nil, &wire.Error{
		Code:    wire.CodeNotFound,
		Message: fmt.Sprintf("%d asks end in %q", len(fits), id),
		Hint:    "type more of the id",
	}
}

// endGone ends asks whose sender has ended.
func (h *Holder) endGone() {
	h.mu.Lock()
	open := make([]*held, 0, len(h.held))
	for _, a := range h.held {
		open = append(open, a)
	}
	h.mu.Unlock()
	for _, a := range open {
		if !a.tree.Alive() {
			h.end(a, &wire.Answered{By: wire.ByGone})
		}
	}
}
