package ask

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/wire"
)

// How long an answer counts; else a duration.
const (
	ForOnce    = "once"
	ForSession = "session"
	ForAlways  = "always"
)

// Limits of an answer.
const (
	maxMessage = 2 << 10
	mostFor    = 365 * 24 * time.Hour
)

// From is the process that answers.
type From struct {
	wire.Answerer
	OfRun     bool // it is a process of a run
	Elsewhere bool // it is no process of this machine: a signature says whose answer it is
	// Not says why no person answers, once the process was looked at; "" = one may. Nil = it is
	// not known.
	Not func() string
}

// Answer gives an answer to an ask. The first counts.
func (h *Holder) Answer(ctx context.Context, from From, id string, r wire.Reply) (wire.Replied, *wire.Error) {
	from.Door = doorOf(r.Door)
	h.mu.Lock()
	a, bad := h.find(id)
	var about calls
	var opens []string
	if bad == nil {
		about, opens = a.about, a.cards.Opens
	}
	h.mu.Unlock()
	if bad != nil {
		return wire.Replied{}, bad
	}
	if bad := h.check(a, from, r); bad != nil {
		return wire.Replied{}, bad
	}
	if bad := h.bound(a, r); bad != nil {
		return wire.Replied{}, h.unless(a, bad)
	}
	answered := &wire.Answered{
		By: wire.ByPerson, Answer: r.Answer, For: forOf(r), Like: r.Like, Message: r.Message, From: &from.Answerer,
	}
	var grants []*wire.Grant
	if answered.For != ForOnce {
		if grants, bad = a.grants(about, opens, answered, time.Now()); bad != nil {
			return wire.Replied{}, h.unless(a, bad)
		}
		answered.ID = grants[0].ID
	}
	if bad := h.claimed(a, answered); bad != nil {
		return wire.Replied{}, bad
	}
	err := h.addGrants(ctx, grants)
	out := wire.Replied{Grants: []wire.Grant{}}
	if err != nil {
		answered.For, answered.Like, answered.ID = ForOnce, "", ""
		out.Warning = "the answer counts once: it cannot be remembered: " + err.Error()
	} else {
		for _, g := range grants {
			out.Grants = append(out.Grants, *g)
		}
	}
	h.save(a, answered, diskTime)
	h.mu.Lock()
	h.release(a)
	out.Ask = a.Ask
	h.mu.Unlock()
	h.log.Info("an ask was answered", zap.String("ask", a.ID), zap.String("answer", string(r.Answer)),
		zap.String("for", answered.For), zap.String("user", from.User), zap.Int("pid", from.PID),
		zap.String("program", from.Program), zap.String("door", from.Door))
	return out, nil
}

// claimed makes answered the outcome of a, if it is the first.
func (h *Holder) claimed(a *held, answered *wire.Answered) *wire.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.answered != nil {
		return late(a)
	}
	h.claim(a, answered)
	return nil
}

// unless returns the error of an answer, unless the answer comes too late anyway.
func (h *Holder) unless(a *held, bad *wire.Error) *wire.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.answered != nil {
		return late(a)
	}
	return bad
}

// doorOf is the name by which a process calls itself.
func doorOf(door string) string {
	if wire.IsDoor(door) {
		return door
	}
	return "socket"
}

func forOf(r wire.Reply) string {
	if r.For == "" {
		return ForOnce
	}
	return r.For
}

// check refuses an answer that cannot count.
func (h *Holder) check(a *held, from From, r wire.Reply) *wire.Error {
	why := ""
	switch {
	case from.OfRun:
		why = "it comes from a process that a hook has started"
	case !from.Elsewhere && a.tree != nil && a.tree.Has(from.PID):
		why = "it comes from the terminal or the processes of the agent that asks, or from one beside them that has no terminal"
	}
	if why == "" && from.Not != nil {
		why = from.Not()
	}
	if why != "" {
		h.refuse(a, from, r, why)
		return &wire.Error{
			Code: wire.CodeForbidden, Message: "the answer does not count: " + why,
			Hint: "a person answers in a terminal of their own, by `hookd ask`, or on the page that `hookd ui --act` there opens",
		}
	}
	return checkReply(r)
}

func checkReply(r wire.Reply) *wire.Error {
	bad := func(field, problem, hint string) *wire.Error {
		return &wire.Error{Code: wire.CodeBadRequest, Message: field + " is " + problem, Hint: hint, Field: field}
	}
	if r.Answer != wire.OutcomeAllow && r.Answer != wire.OutcomeDeny {
		return bad("answer", strconv.Quote(string(r.Answer)), `send {"answer":"allow"} or {"answer":"deny"}`)
	}
	if len(r.Message) > maxMessage {
		return bad("message", fmt.Sprintf("longer than %d bytes", maxMessage), "")
	}
	switch forOf(r) {
	case ForOnce:
		if r.Like != "" {
			return bad("like", "only for an answer that is remembered", "add for: session, always, or a time such as 15m")
		}
	case ForSession, ForAlways:
	default:
		if d, err := duration.Span(r.For); err != nil || d < time.Second || d > mostFor {
			return bad("for", strconv.Quote(r.For), "give once, session, always, or a time such as 15m")
		}
	}
	return nil
}

// bound refuses an allow of something else than the ask as a whole card shows it, and one
// that reaches further than the call where the card has hidden characters.
func (h *Holder) bound(a *held, r wire.Reply) *wire.Error {
	if r.Answer != wire.OutcomeAllow {
		return nil
	}
	h.mu.Lock()
	hidden := a.Card != nil && a.Card.Hidden
	h.mu.Unlock()
	show := "see the whole call and the command to type: hookd ask " + ending(a.ID)
	switch {
	case r.Digest == "":
		return &wire.Error{Code: wire.CodeBadRequest, Hint: show,
			Message: "the answer has no digest: only a person who was shown the whole call can allow it"}
	case r.Digest != a.digest:
		return &wire.Error{Code: wire.CodeBadRequest, Hint: show,
			Message: "the digest belongs to another ask: another call was shown, or only a part of this call"}
	case hidden && forOf(r) != ForOnce:
		return &wire.Error{Code: wire.CodeBadRequest, Hint: "leave out --for and --like",
			Message: "the call has hidden characters: it is allowed once at a time"}
	}
	return nil
}

// refuse records an answer that does not count.
func (h *Holder) refuse(a *held, from From, r wire.Reply, why string) {
	h.mu.Lock()
	if len(a.refused) < wire.MostRefused && a.answered == nil {
		answer := r.Answer
		if answer != wire.OutcomeAllow {
			answer = wire.OutcomeDeny
		}
		a.refused = append(a.refused, wire.Refused{
			From: from.Answerer, Answer: answer, Why: why, Time: time.Now().UTC(),
		})
	}
	h.mu.Unlock()
	h.log.Warn("an answer to an ask does not count", zap.String("ask", a.ID), zap.String("why", why),
		zap.String("user", from.User), zap.Int("uid", from.UID), zap.Int("pid", from.PID),
		zap.String("program", from.Program), zap.String("door", from.Door))
}

// late is the error for an ask that has ended. h.mu is held.
func late(a *held) *wire.Error {
	was, by := a.answered, ""
	if was.From != nil {
		by = fmt.Sprintf("%s, %s, pid %d", was.From.User, was.From.Door, was.From.PID)
	}
	e := &wire.Error{Code: wire.CodeAnswered, Hint: "see `hookd log " + ending(a.EventID) + "`"}
	ago := time.Since(was.Time).Round(time.Second)
	switch was.By {
	case wire.ByPerson:
		e.Message = fmt.Sprintf("it was answered before: %s (%s) %s ago", was.Answer, by, ago)
	case wire.ByTimeout:
		e.Message = fmt.Sprintf("its time was over %s ago", ago)
	case wire.ByGone:
		e.Message = "the agent that asked has ended"
	default:
		e.Message = "hookd stops, and the ask went to the agent"
	}
	return e
}

// ending is the end of an id that commands show and take.
func ending(id string) string { return strings.ToUpper(id[max(0, len(id)-8):]) }
