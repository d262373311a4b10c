package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/escape"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/rawjson"
	"github.com/hookd/hookd/internal/store"
)

const (
	maxEnded   = 1000     // ended asks that a late answer is told of
	maxRefused = 8        // refused answers on one record
	maxShown   = 16 << 10 // of a call's input, in lists and events
)

// held is one ask. Its events.Ask is never changed but for Answered.
type held struct {
	events.Ask
	kind     events.Kind
	eventSeq uint64
	asking   []dispatch.Asking
	about    calls // nil = the call cannot be compared with another
	decided  []string
	agentNm  string
	tree     Tree
	size     int
	timer    *time.Timer
	done     chan struct{} // closed when answered is set for good
	once     sync.Once     // for what follows that

	// Guarded by Holder.mu until done is closed.
	answered *events.Answered
	refused  []events.Refused
}

// hold makes an ask of what is open of q and tells all approvers; nil when
// it cannot be held after all.
func (h *Holder) hold(
	q *dispatch.Question,
	asking []dispatch.Asking,
	about calls,
	now time.Time,
	wait time.Duration,
) *held {
	tree := h.opts.Tree(q.Sender)
	if tree == nil {
		return nil
	}
	e := q.Event
	input := dialect.Call(e).Given
	if q.Verdict.UpdatedInput != nil {
		input = q.Verdict.UpdatedInput
	}
	a := &held{
		Ask: events.Ask{
			ID: events.NewID(now), EventID: e.EventID, Event: e.Envelope.Event,
			Hook: asking[0].Hook.Name, Reason: reasons(asking),
			Agent: cmp.Or(e.AgentName, string(e.Dialect), e.Sender), AgentID: e.AgentID, Dialect: e.Dialect,
			SessionID: e.SessionID, Cwd: e.Cwd, Tool: e.Tool, Subject: e.Subject, Input: input, Bytes: len(input),
			Rewrote: q.Verdict.UpdatedInput != nil, Since: now.UTC(), Until: now.Add(wait).UTC(),
		},
		kind: e.Contract.Kind, eventSeq: e.Seq, asking: asking, about: about, decided: q.Verdict.DecidedBy,
		agentNm: e.AgentName, tree: tree, size: len(e.Data), done: make(chan struct{}),
	}
	if len(asking) > 1 {
		for _, one := range asking {
			a.Hooks = append(a.Hooks, one.Hook.Name)
		}
	}
	told := h.eventData(a)
	h.mu.Lock()
	if h.closed || len(h.held) >= maxHeld || h.bytes+a.size > maxHeldBytes {
		h.mu.Unlock()
		return nil
	}
	h.held[a.ID] = a
	h.bytes += a.size
	a.timer = time.AfterFunc(wait, func() { h.end(a, &events.Answered{By: events.ByTimeout}) })
	h.opts.Store.SaveAsk(store.Kept{ID: a.ID, Text: a.record()})
	h.tell("ask", a)
	h.mu.Unlock()
	h.opts.Emit(events.EventAsk, told)
	h.log.Info("a call waits for an answer", zap.String("ask", a.ID), zap.String("hook", a.Hook),
		zap.String("event_id", a.EventID), zap.Duration("at_most", wait))
	return a
}

// keptAsk is an ask on disk: what its record needs if the daemon does not end it.
type keptAsk struct {
	Ask       events.Ask  `json:"ask"`
	Kind      events.Kind `json:"kind"`
	EventSeq  uint64      `json:"event_seq"`
	AgentName string      `json:"agent_name"`
	DecidedBy []string    `json:"decided_by"`
}

func (a *held) record() []byte {
	kept := keptAsk{Ask: a.Ask, Kind: a.kind, EventSeq: a.eventSeq, AgentName: a.agentNm, DecidedBy: a.decided}
	kept.Ask.Input = nil // it may have secrets, and nothing looks at it again
	text, err := json.Marshal(kept)
	if err != nil {
		return []byte("{}") // texts and times alone: it cannot fail
	}
	return text
}

// EndLast records the asks that the last life of the daemon held and did not end.
func (h *Holder) EndLast(ctx context.Context) {
	left, err := h.opts.Store.Asks(ctx)
	if err != nil {
		h.log.Warn("asks of the last run of hookd cannot be read", zap.Error(err))
		return
	}
	for _, k := range left {
		h.opts.Store.DropAsk(k.ID)
		var was keptAsk
		if json.Unmarshal(k.Text, &was) != nil || was.Ask.EventID == "" {
			continue
		}
		a := &held{Ask: was.Ask}
		a.Answered = &events.Answered{By: events.ByRestart, AskID: a.ID, Time: time.Now().UTC()}
		h.opts.Record(&events.Decided{
			EventID: a.EventID, EventSeq: was.EventSeq, Time: a.Since, Event: a.Event, Kind: was.Kind,
			Dialect: a.Dialect, AgentID: a.AgentID, AgentName: was.AgentName, SessionID: a.SessionID, Cwd: a.Cwd,
			Tool: a.Tool, Subject: a.Subject, Decision: events.OutcomeAsk,
			Reason:    escape.Line(a.Reason, events.ReasonBytes) + " (hookd was ended before an answer came)",
			DecidedBy: was.DecidedBy, Answered: a.Answered,
		})
		h.opts.Emit(events.EventAnswered, h.eventData(a))
		h.log.Warn("an ask had no answer when hookd was ended",
			zap.String("ask", a.ID), zap.String("event_id", a.EventID))
	}
}

// end ends an ask that has no answer yet.
func (h *Holder) end(a *held, answered *events.Answered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.answered == nil {
		h.claim(a, answered)
		h.release(a)
	}
}

// claim makes answered what becomes of a. h.mu is held.
func (h *Holder) claim(a *held, answered *events.Answered) {
	answered.AskID, answered.Time = a.ID, time.Now().UTC()
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
	a.Input, a.about = nil, nil // they may be large, and an ended ask is kept
	h.tell("answered", a)
	close(a.done)
}

// over forgets an ask that has ended, and tells hooks.
func (h *Holder) over(a *held) {
	a.once.Do(func() {
		h.opts.Store.DropAsk(a.ID)
		h.opts.Emit(events.EventAnswered, h.eventData(a))
	})
}

// eventData is what hooks are told of an ask: without secrets, and with what a person
// types to answer.
func (h *Holder) eventData(a *held) json.RawMessage {
	shown := a.Ask
	if shown.Input != nil {
		if shown.Input = h.opts.Redact(shown.Input); len(shown.Input) > maxShown || !json.Valid(shown.Input) {
			shown.Input = nil
		}
	}
	shown.Reason = string(h.opts.Redact([]byte(shown.Reason)))
	text, err := json.Marshal(shown)
	if err != nil {
		return json.RawMessage("{}") // of our own types: it cannot fail
	}
	return rawjson.With(text, rawjson.StringMember("allow", "hookd allow-ask "+a.ID),
		rawjson.StringMember("deny", "hookd deny-ask "+a.ID))
}

// List returns the asks that are held, the oldest first. Input is only there when it
// is short.
func (h *Holder) List() []events.Ask {
	h.endGone()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list()
}

func (h *Holder) list() []events.Ask {
	list := make([]events.Ask, 0, len(h.held))
	for _, a := range h.held {
		list = append(list, short(a.Ask))
	}
	slices.SortFunc(list, func(a, b events.Ask) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// short is an ask as lists show it.
func short(a events.Ask) events.Ask {
	if len(a.Input) > maxShown {
		a.Input = nil
	}
	return a
}

// Waits reports whether an ask of a session is held.
func (h *Holder) Waits(d events.Dialect, session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.held {
		if a.SessionID == session && a.Dialect == d {
			return true
		}
	}
	return false
}

// Get returns an ask, also one of the last that have ended, with all of its input.
func (h *Holder) Get(id string) (events.Ask, *events.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, bad := h.find(id)
	if bad != nil {
		return events.Ask{}, bad
	}
	return a.Ask, nil
}

// find returns the ask with an id, or the only one whose id ends so. h.mu is held.
func (h *Holder) find(id string) (*held, *events.Error) {
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
		return nil, &events.Error{
			Code: events.CodeNotFound, Message: fmt.Sprintf("no ask %q is held", id), Hint: "see `hookd asks`",
		}
	}
	return nil, &events.Error{
		Code:    events.CodeNotFound,
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
			h.end(a, &events.Answered{By: events.ByGone})
		}
	}
}
