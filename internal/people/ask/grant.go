package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

const (
	maxGrants   = 10_000
	maxVoided   = 100
	sessionTime = 7 * 24 * time.Hour // after which a grant for a session ends: no event reports some ends
)

// grants makes one grant for each hook that asks, of an answer that is to be
// remembered. about is the call that was asked about, opens are the ways out of its box.
func (a *held) grants(about calls, opens []string, answered *wire.Answered, now time.Time) (
	[]*wire.Grant, *wire.Error,
) {
	cannot := func(hint, format string, args ...any) ([]*wire.Grant, *wire.Error) {
		return nil, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: "the answer cannot be remembered: " + fmt.Sprintf(format, args...),
			Hint:    cmp.Or(hint, "answer once"),
		}
	}
	if about == nil {
		return cannot("", "the call cannot be compared with another")
	}
	g := wire.Grant{
		Answer: answered.Answer, Tool: about[0].tool, OwnTool: about[0].own, Subject: a.Subject, Like: answered.Like,
		Call: about.exact(), Dialect: a.Dialect, Cwd: a.Cwd, UID: a.uid, Scope: answered.For, Made: now.UTC(),
		From: *answered.From, EventID: a.EventID, Message: answered.Message,
	}
	if g.Answer == wire.OutcomeAllow {
		g.Opens = opens
	}
	switch answered.For {
	case ForSession:
		if g.SessionID = a.SessionID; g.SessionID == "" {
			return cannot("answer with a time, such as 15m", "the agent names no session")
		}
		g.Until = g.Made.Add(sessionTime)
	case ForAlways:
	default:
		d, err := duration.Span(answered.For)
		if err != nil {
			return cannot("", "%v", err)
		}
		g.Until = g.Made.Add(d)
	}
	if g.Like != "" {
		for _, c := range about {
			if err := checkLike(g.Like, c); err != nil {
				return cannot("leave like away: then the answer is for the same call alone", "like %q: %v", g.Like, err)
			}
		}
		g.Call = about.rest()
	}
	var list []*wire.Grant
	for _, one := range a.asking {
		if one.Hook.Digest == "" {
			return cannot("", "hookd cannot tell whether hook %s changes", one.Hook.Name)
		}
		g := g
		g.ID, g.Hook, g.HookID, g.Digest = events.NewID(now), one.Hook.Name, one.Hook.ID, one.Hook.Digest
		list = append(list, &g)
	}
	return list, nil
}

// addGrants keeps grants, and puts them in force when they are on disk.
func (h *Holder) addGrants(ctx context.Context, list []*wire.Grant) error {
	if len(list) == 0 {
		return nil
	}
	h.mu.Lock()
	room := maxGrants - len(h.grants)
	h.mu.Unlock()
	if len(list) > room {
		return errors.New("there are too many grants: revoke some, see `hookd grants`")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diskTime)
	defer cancel()
	var rows []store.Saved
	for _, g := range list {
		text, err := json.Marshal(g)
		if err != nil {
			return err
		}
		rows = append(rows, store.Saved{ID: g.ID, Text: text})
	}
	if err := h.opts.Store.SaveGrants(ctx, rows...); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range list {
		h.grants[g.ID] = g
	}
	return nil
}

func (h *Holder) loadGrants(ctx context.Context) {
	all, err := h.opts.Store.Grants(ctx)
	if err != nil {
		h.log.Warn("remembered answers cannot be read: hooks ask again", zap.Error(err))
		return
	}
	for _, k := range all {
		g := &wire.Grant{}
		if err := json.Unmarshal(k.Text, g); err != nil || g.ID != k.ID {
			h.log.Warn("a remembered answer cannot be read: its hook asks again", zap.String("grant", k.ID), zap.Error(err))
			continue
		}
		g.Uses, g.Last, g.Void = 0, time.Time{}, ""
		h.grants[g.ID] = g
	}
}

// covered has the answers of grants to a question.
type covered struct {
	denied  *wire.Grant // one of them denies; nil = none
	allowed *wire.Grant // one of those that allow; nil = none
	open    []dispatch.Asking
}

// answers returns the grant that answers the question; nil = a person has to.
func (c covered) answers() *wire.Grant {
	if c.denied != nil || len(c.open) > 0 {
		return c.denied
	}
	return c.allowed
}

// cover asks the grants of each hook that asks. A denial wins.
func (h *Holder) cover(q *dispatch.Question, about calls, now time.Time) (c covered) {
	if about == nil {
		return covered{open: q.Asking}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	of := digestsOf(q.Event, about)
	for _, one := range q.Asking {
		var allowed, denied *wire.Grant
		for _, g := range h.grants {
			if !of.covered(g, one.Hook, now) {
				continue
			}
			if g.Answer != wire.OutcomeAllow {
				denied = older(denied, g)
			} else if reaches(g, q.Verdict) {
				allowed = older(allowed, g)
			}
		}
		switch {
		case denied != nil:
			c.denied = older(c.denied, denied)
		case allowed != nil:
			c.allowed = older(c.allowed, allowed)
		default:
			c.open = append(c.open, one)
		}
	}
	return c
}

// reaches reports whether a grant that allows a call allows as much as v asks for. One that opens ways out of a
// box opens no others, and lets nothing run without a box: the line may do more than when a person saw it.
func reaches(g *wire.Grant, v *verdict.Verdict) bool {
	if len(g.Opens) == 0 {
		return true
	}
	return v.Contains() && !slices.ContainsFunc(v.Opens, func(way string) bool {
		return !slices.ContainsFunc(g.Opens, func(open string) bool {
			return way == open || strings.HasPrefix(way, open+"/")
		})
	})
}

// older is the grant that was made first: the same one answers each time.
func older(a, b *wire.Grant) *wire.Grant {
	if a == nil || b.ID < a.ID {
		return b
	}
	return a
}

// digests compares the calls of a question with grants: it makes each digest once, however many grants there are.
type digests struct {
	event                 *events.Event
	about                 calls
	identity, exact, rest func() string
}

func digestsOf(e *events.Event, about calls) digests {
	return digests{
		event: e, about: about, identity: sync.OnceValue(func() string { return identity(e, about) }),
		exact: sync.OnceValue(about.exact), rest: sync.OnceValue(about.rest),
	}
}

// covered reports whether a grant answers a hook's question.
func (s *digests) covered(g *wire.Grant, by *hook.Hook, now time.Time) bool {
	e := s.event
	if g.HookID != by.ID || by.Digest == "" || g.Digest != by.Digest || over(g, now) ||
		g.Dialect != e.Dialect || g.Cwd != e.Cwd || g.Scope == ForSession && g.SessionID != e.SessionID {
		return false
	}
	if g.Permit {
		return g.Call == s.identity()
	}
	if g.Answer != wire.OutcomeAllow && g.Answer != wire.OutcomeDeny || !sameUser(g.UID, userOf(e)) {
		return false
	}
	if g.Like == "" {
		return g.Call == s.exact()
	}
	return g.Call == s.rest() && !slices.ContainsFunc(s.about, func(c call) bool { return !fits(g.Like, c) })
}

// over reports whether the time of a grant is over. A time that begins later than now is of a clock that was set back:
// how much is left, is not known.
func over(g *wire.Grant, now time.Time) bool {
	return !g.Until.IsZero() && (!now.Before(g.Until) || now.Before(g.Made.Add(-time.Minute)))
}

// sameUser compares two users of userOf.
func sameUser(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// use counts a use of a grant, and returns its answer; nil = it is gone, or its use cannot be kept.
func (h *Holder) use(g *wire.Grant, now time.Time) *wire.Answered {
	h.mu.Lock()
	gone := h.grants[g.ID] != g
	if !gone {
		h.spend(g, now)
	}
	used := *g
	h.mu.Unlock()
	if gone || !usedUp(h, used) {
		return nil
	}
	by := wire.ByGrant
	if used.Permit {
		by = wire.ByPermit
	}
	return &wire.Answered{
		By: by, ID: used.ID, Answer: used.Answer, For: used.Scope, Like: used.Like, Message: used.Message,
		From: &used.From, Time: now.UTC(),
	}
}

// Grants returns the answers that are remembered, the newest first, and then those
// that have become void since the daemon started.
func (h *Holder) Grants() []wire.Grant {
	h.expire(time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]wire.Grant, 0, len(h.grants)+len(h.voided))
	for _, g := range h.grants {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b wire.Grant) int { return cmp.Compare(b.ID, a.ID) })
	for _, g := range slices.Backward(h.voided) {
		list = append(list, *g)
	}
	return list
}

// Granted reports whether the answer to the question about an event is remembered and in force.
func (h *Holder) Granted(event string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.grants {
		if g.EventID == event && !over(g, time.Now()) {
			return true
		}
	}
	return false
}

// Revoke forgets a grant, by its id or the only end of one. When it returns without an
// error the grant answers nothing any more, also after a restart.
func (h *Holder) Revoke(ctx context.Context, id string) (wire.Grant, *wire.Error) {
	h.mu.Lock()
	var fits []*wire.Grant
	for _, g := range h.grants {
		if id != "" && strings.HasSuffix(g.ID, strings.ToUpper(id)) {
			fits = append(fits, g)
		}
	}
	if len(fits) == 1 {
		delete(h.grants, fits[0].ID) // first: whatever the disk does, it counts no more
	}
	h.mu.Unlock()
	switch len(fits) {
	case 0:
		return wire.Grant{}, &wire.Error{
			Code: wire.CodeNotFound, Message: fmt.Sprintf("no grant %q", id), Hint: "see `hookd grants`",
		}
	case 1:
	default:
		return wire.Grant{}, &wire.Error{
			Code:    wire.CodeNotFound,
			Message: fmt.Sprintf("%d grants end in %q", len(fits), id),
			Hint:    "type more of the id",
		}
	}
	g := fits[0]
	if err := h.opts.Store.DropGrants(ctx, g.ID); err != nil {
		return *g, &wire.Error{
			Code:    wire.CodeStorage,
			Message: "the grant counts no more, but would after a restart of hookd: " + err.Error(),
			Hint:    "type it again when `hookd status` says that the store is well",
		}
	}
	h.log.Info("a grant was revoked", zap.String("grant", g.ID), zap.String("hook", g.Hook))
	return *g, nil
}

// Retain makes grants of hooks that have changed void. hooks are those in
// force; a hook that is not there now may come back.
func (h *Holder) Retain(hooks []*hook.Hook) {
	digests := map[string]string{}
	for _, k := range hooks {
		digests[k.ID] = k.Digest
	}
	h.drop(func(g *wire.Grant) string {
		if digest, there := digests[g.HookID]; there && digest != g.Digest {
			return "the hook has changed"
		}
		return ""
	})
}

// expire forgets grants whose time is over.
func (h *Holder) expire(now time.Time) {
	h.drop(func(g *wire.Grant) string {
		if over(g, now) {
			return "its time is over"
		}
		return ""
	})
}

// drop makes the grants void that why gives a reason for. On disk they are forgotten
// a moment later: they would not count there either.
func (h *Holder) drop(why func(*wire.Grant) string) {
	h.mu.Lock()
	var gone []string
	for id, g := range h.grants {
		reason := why(g)
		if reason == "" {
			continue
		}
		delete(h.grants, id)
		void := *g
		void.Void = reason
		h.voided = append(h.voided, &void)
		gone = append(gone, id)
	}
	if len(h.voided) > maxVoided {
		h.voided = slices.Delete(h.voided, 0, len(h.voided)-maxVoided)
	}
	h.mu.Unlock()
	if len(gone) == 0 {
		return
	}
	h.log.Info("grants have become void", zap.Strings("grants", gone))
	h.dropLater(gone)
}

// dropLater forgets grants that answer nothing any more on disk, too. It does not wait.
func (h *Holder) dropLater(gone []string) {
	if len(gone) == 0 {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), diskTime)
		defer cancel()
		if err := h.opts.Store.DropGrants(ctx, gone...); err != nil {
			h.log.Debug("void grants are still on disk", zap.Error(err))
		}
	}()
}
