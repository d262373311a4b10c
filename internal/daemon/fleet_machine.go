package daemon

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/people/ask"
	"github.com/hookd/hookd/wire"
)

// machine is this machine as a member of its fleet: it gives the fleet its state, takes answers, and follows
// directives. It fits fleet.Machine and fleet.Asked.
type machine struct{ d *Daemon }

// Facts fits fleet.Machine.
func (m machine) Facts() wire.FleetMachine {
	d := m.d
	facts := wire.FleetMachine{Version: d.opts.Version, Started: d.started}
	for _, e := range d.discovery.Current().Entries {
		if e.State == hook.Active {
			facts.Hooks++
		}
		if e.Hook == nil || !e.Hook.IsGuard() {
			continue
		}
		if e.State != hook.Active && e.State != hook.Disabled || d.inventory.fails(e) {
			facts.Failing = append(facts.Failing, e.Name)
		}
	}
	now, _ := d.policy.now()
	facts.Policy, facts.Rollout = now.Head().Text(), m.rolled(now)
	for name := range d.config.Load().Fleet.Approvers {
		facts.Approvers = append(facts.Approvers, name)
	}
	slices.Sort(facts.Approvers)
	return facts
}

// Sessions fits fleet.Machine.
func (m machine) Sessions(ctx context.Context, since time.Time) ([]wire.Session, error) {
	list, bad := m.d.history.Sessions(ctx, wire.SessionQuery{Since: since, Limit: fleet.MostSessions})
	if bad != nil {
		return nil, bad
	}
	return list.Sessions, nil
}

// FollowAsks fits fleet.Machine.
func (m machine) FollowAsks() fleet.AskStream { return m.d.asks.Follow(false) }

// Ask fits fleet.Asked.
func (m machine) Ask(id string) (wire.Ask, bool) {
	a, bad := m.d.asks.Get(id)
	return a, bad == nil && a.ID == id && a.Answered == nil
}

// Answer fits fleet.Asked. No process of this machine gives the answer.
func (m machine) Answer(ctx context.Context, approver string, s wire.FleetStatement) *wire.Error {
	from := ask.From{Answerer: wire.Answerer{User: approver, UID: -1, Door: "fleet"}, Elsewhere: true}
	_, bad := m.d.asks.Answer(ctx, from, s.Ask, wire.Reply{
		Answer: s.Answer, Digest: s.About, For: ask.ForOnce, Message: s.Message, Door: "fleet",
	})
	return bad
}

// Approvers fits fleet.Asked.
func (m machine) Approvers() map[string]ed25519.PublicKey {
	keys := map[string]ed25519.PublicKey{}
	for name, text := range m.d.config.Load().Fleet.Approvers {
		if key, err := policy.PublicKey(text); err == nil { // the settings were checked
			keys[name] = key
		}
	}
	return keys
}

// outbox returns the messages that wait on this machine for the servers.
func outbox(s fleet.Status) wire.FleetOutbox {
	o := wire.FleetOutbox{
		Events: s.Outbox.Messages, Bytes: s.Outbox.Bytes, Refused: s.Outbox.Refused, Why: s.Outbox.Why,
		Decisions: s.Decisions,
	}
	if oldest := s.Oldest(); !oldest.IsZero() {
		o.Oldest = &oldest
	}
	return o
}

// lagTime is how long it may take to read the messages that wait for the fleet.
const lagTime = 2 * time.Second

// fleetLag returns how this machine is in its fleet; nil = it is in none.
func (m machine) fleetLag(ctx context.Context) *wire.FleetLag {
	if m.d.fleet == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lagTime)
	defer cancel()
	s, err := m.d.fleet.Status(ctx)
	lag := &wire.FleetLag{
		Tenant: s.Tenant, Machine: s.Machine, Connected: s.State.Connected, Since: s.State.Since,
		Error: cmp.Or(s.Trouble, s.State.Err, s.Directive), Outbox: outbox(s),
	}
	if err != nil {
		lag.Unread = err.Error()
	}
	return lag
}

// Fleet fits server.Fleet.
func (c *control) Fleet(ctx context.Context) (wire.Fleet, *wire.Error) {
	s, err := c.d.fleet.Status(ctx)
	if err != nil {
		return wire.Fleet{}, &wire.Error{Code: wire.CodeStorage, Message: err.Error()}
	}
	out := wire.Fleet{
		Machine: s.Machine, Tenant: s.Tenant,
		Connected: s.State.Connected, Server: s.State.Server, Since: s.State.Since,
		Error:  cmp.Or(s.Trouble, s.State.Err, s.Directive),
		Outbox: outbox(s),
		Events: wire.FleetEvents{
			Sent: s.Sent, Taken: s.Taken, Doubles: s.Doubles, Again: s.Again, Skipped: s.Skipped, Refused: s.Refused,
		},
		Machines: []wire.FleetMachine{}, Directive: machine{c.d}.directive(),
	}
	list, err := c.d.fleet.Machines(ctx)
	if err == nil {
		out.Dead, err = c.d.fleet.Dead(ctx)
	}
	if err != nil {
		out.Unread = err.Error()
		return out, nil
	}
	out.Machines = append(out.Machines, list...)
	return out, nil
}

// FleetDecisions fits server.Fleet.
func (c *control) FleetDecisions(ctx context.Context, q wire.FleetQuery) (wire.FleetDecisions, *wire.Error) {
	page, err := c.d.fleet.Decisions(ctx, q)
	return page, fleet.Refusal(err)
}

// FleetSessions fits server.Fleet.
func (c *control) FleetSessions(ctx context.Context, q wire.SessionQuery) (wire.FleetSessions, *wire.Error) {
	page, err := c.d.fleet.Sessions(ctx, q)
	return page, fleet.Refusal(err)
}

// FleetAsks fits server.Fleet.
func (c *control) FleetAsks(ctx context.Context) (wire.FleetAsks, *wire.Error) {
	page, err := c.d.fleet.Asks(ctx)
	return page, fleet.Refusal(err)
}

// PassAnswer fits server.Fleet.
func (c *control) PassAnswer(ctx context.Context, a wire.FleetAnswer) *wire.Error {
	if err := c.d.fleet.PassAnswer(ctx, a); err != nil {
		return &wire.Error{
			Code: wire.CodeInternal, Message: "the answer could not be sent: " + err.Error(), Hint: "see `hookd fleet status`",
		}
	}
	return nil
}
