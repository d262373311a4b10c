package ask

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// permitTime is how long a permit for one call waits for it.
const permitTime = 24 * time.Hour

// Identify fits dispatch.Asks: it returns a digest of the call that e is about.
func (h *Holder) Identify(e *events.Event) string {
	c, ok := callOf(e, e.Data)
	if !ok {
		return ""
	}
	return identity(e, calls{c})
}

// identity is a digest of a call as the agent made it, and of its user where that may be another
// than the daemon's.
func identity(e *events.Event, about calls) string {
	if uid := userOf(e); uid != nil {
		return fmt.Sprintf("%d:%s", *uid, about.given())
	}
	return about.given()
}

// Permit fits dispatch.Asks. One permit of each hook is needed; a permit for one call is used
// up when all are there, on disk before it counts.
func (h *Holder) Permit(e *events.Event, denying []*hook.Hook) *wire.Answered {
	now := time.Now()
	h.mu.Lock()
	any := false
	for _, g := range h.grants {
		any = any || g.Permit
	}
	h.mu.Unlock()
	if !any || len(denying) == 0 {
		return nil
	}
	c, ok := callOf(e, e.Data)
	if !ok {
		return nil
	}
	used := h.take(e, denying, calls{c}, now)
	if len(used) == 0 {
		return nil
	}
	if !usedUp(h, used...) {
		return nil
	}
	first := used[0]
	return &wire.Answered{
		By: wire.ByPermit, ID: first.ID, Answer: wire.OutcomeAllow, For: first.Scope, From: &first.From,
		Time: now.UTC(),
	}
}

// take returns a permit of each hook; nil where one has none. Those for one call are gone then.
func (h *Holder) take(e *events.Event, denying []*hook.Hook, about calls, now time.Time) (used []wire.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := digestsOf(e, about)
	var found []*wire.Grant
	for _, denied := range denying {
		var permit *wire.Grant
		for _, g := range h.grants {
			if g.Permit && !denied.Layer.Signed() && of.covered(g, denied, now) {
				permit = older(permit, g)
			}
		}
		if permit == nil {
			return nil
		}
		found = append(found, permit)
	}
	for _, g := range found {
		h.spend(g, now)
		used = append(used, *g)
	}
	return used
}

// usedUp makes the disk forget the permits for one call among some that were used: a kill must not bring
// them back. false = it may not have, and nothing passes by them.
func usedUp(h *Holder, used ...wire.Grant) bool {
	var once []string
	for _, g := range used {
		if g.Permit && g.Scope == ForOnce {
			once = append(once, g.ID)
		}
	}
	if len(once) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), diskTime)
	defer cancel()
	if err := h.opts.Store.DropGrants(ctx, once...); err != nil {
		h.log.Error("a permit lets nothing pass: the disk does not take its use", zap.Strings("permits", once),
			zap.Error(err))
		return false
	}
	return true
}

// spend counts a use of a grant. A permit for one call is void after it. h.mu is held.
func (h *Holder) spend(g *wire.Grant, now time.Time) {
	g.Uses++
	g.Last = now.UTC()
	if g.Scope != ForOnce {
		return
	}
	delete(h.grants, g.ID)
	void := *g
	void.Void = "it was used"
	h.voided = append(h.voided, &void)
}

// AddPermits lets the next call pass that is the same as the call that hooks have denied.
// scope is "once" or a time such as 15m. The permits are on disk when it returns.
func (h *Holder) AddPermits(
	ctx context.Context, d *wire.Decision, hooks []*hook.Hook, scope string, by wire.Answerer,
) ([]wire.Grant, *wire.Error) {
	now := time.Now().UTC()
	if scope == "" {
		scope = ForOnce
	}
	until := now.Add(permitTime)
	if scope != ForOnce {
		d, err := duration.Span(scope)
		if err != nil || d < time.Second || d > permitTime {
			return nil, &wire.Error{
				Code: wire.CodeBadRequest, Field: "for", Message: fmt.Sprintf("for is %q", scope),
				Hint: "give once, or a time of at most 24h such as 15m",
			}
		}
		until = now.Add(d)
	}
	var list []*wire.Grant
	made := []wire.Grant{}
	for _, of := range hooks {
		if of.Digest == "" {
			return nil, &wire.Error{
				Code: wire.CodeBadRequest, Message: "hookd cannot tell whether hook " + of.Name + " changes",
				Hint: "see `hookd hook show " + of.Quoted() + "`",
			}
		}
		g := wire.Grant{
			ID: events.NewID(now), Hook: of.Name, HookID: of.ID, Digest: of.Digest, Answer: wire.OutcomeAllow,
			Tool: d.Tool, Subject: d.Subject, Call: d.CallSum, Dialect: d.Dialect, Cwd: d.Cwd, Scope: scope,
			Made: now, Until: until, From: by, EventID: d.EventID, Permit: true,
		}
		list, made = append(list, &g), append(made, g)
	}
	if err := h.addGrants(ctx, list); err != nil {
		return nil, &wire.Error{
			Code: wire.CodeStorage, Message: "the permit is not on disk: " + err.Error(),
			Hint: "type it again when `hookd daemon status` says that the store is well",
		}
	}
	return made, nil
}

// Permits returns the permits that are in force.
func (h *Holder) Permits() (list []wire.Grant) {
	for _, g := range h.Grants() {
		if g.Permit && g.Void == "" {
			list = append(list, g)
		}
	}
	return list
}
