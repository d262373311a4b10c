package daemon

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/wire"
)

// errRootsPolicy is why a system daemon takes no directive: its policy is root's to change.
var errRootsPolicy = errors.New("root updates the policy of the system daemon: it takes no directive of the fleet")

// TakeDirective fits fleet.Directives. Hooks that it switches off are off when it returns;
// bundles are fetched later. Where no policy is set no key can vouch for a directive.
func (m machine) TakeDirective(_ context.Context, newestFirst [][]byte) error {
	d, c := m.d, m.d.config.Load()
	if c.System {
		return errRootsPolicy
	}
	changed, err := d.policy.Take(c.Fleet.Tenant, newestFirst...)
	if changed {
		d.discovery.Load()
	}
	select {
	case d.directed <- struct{}{}:
	default:
	}
	if errors.Is(err, policy.ErrUnset) {
		return nil
	}
	if err == nil && changed {
		d.log.Info("a directive of the fleet is taken")
	}
	return err
}

// followFleet puts in force the policy that the newest directive wants on this machine, now and
// after each look for a newer one, until ctx ends.
func (m machine) followFleet(ctx context.Context) {
	if m.d.fleet == nil || m.d.config.Load().System {
		return
	}
	said := ""
	for {
		c := *m.d.config.Load()
		r, err := m.d.policy.Follow(ctx, policy.Member{
			Tenant: c.Fleet.Tenant, Machine: m.d.fleet.Name(), Check: catalog.CheckPolicy(c, m.d.discovery.Readings()),
			Fetch: func(ctx context.Context, name string) ([]byte, error) {
				return m.d.fleet.Bundle(ctx, name, policy.MaxBytes)
			},
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !errors.Is(err, policy.ErrUnset) && err.Error() != said:
			said = err.Error()
			m.d.log.Warn("the policy of the fleet is not in force, what there was stays", zap.Error(err))
			m.d.discovery.Load() // it is among the problems
		case err == nil && r.Changed:
			m.d.log.Info("a policy of the fleet is in force", zap.String("policy", r.Current.Head().Text()),
				zap.String("shadow", r.Current.ShadowHead().Text()))
			m.d.discovery.Load()
			m.d.policy.sweep()
		}
		if err == nil {
			said = ""
		}
		select {
		case <-m.d.directed:
		case <-ctx.Done():
			return
		}
	}
}

// rolled is the state that the newest directive has on this machine; nil = it took none.
func (m machine) rolled(now policy.Current) *wire.Rolled {
	switch {
	case m.d.config.Load().System:
		return &wire.Rolled{Error: errRootsPolicy.Error()}
	case now.State.Directive.Empty() && now.State.Refused == "":
		return nil
	}
	r := &wire.Rolled{Directive: now.Directive.Sequence, Shadow: now.ShadowHead().Text()}
	for _, e := range m.d.discovery.Current().Entries {
		if e.OffBy != "" && e.State == hook.Disabled {
			r.Off = append(r.Off, e.Name)
		}
	}
	if now.State.Source == policy.FromFleet {
		r.Error = now.State.Error
		force, _, stage := now.Directive.For(m.d.fleet.Name())
		if head := now.Head(); head != nil && force != nil && *head == *force {
			r.Stage = string(stage)
		}
	}
	if now.State.Refused != "" {
		r.Error = now.State.Refused
	}
	return r
}

// directive is the newest that this machine has taken; nil = none.
func (m machine) directive() *wire.Directive {
	now, set := m.d.policy.now()
	if !set || now.State.Directive.Empty() {
		return nil
	}
	v := now.Directive
	out := &wire.Directive{
		Sequence: v.Sequence, Time: v.Time, By: v.By, Enforced: v.Enforced.Text(), Previous: v.Previous.Text(),
		Next: v.Next.Text(), Stage: string(v.Stage), Percent: v.Percent, Off: []wire.SwitchOff{},
	}
	if key, err := policy.PublicKey(now.State.Key); err == nil {
		out.Key = policy.Fingerprint(key)
	}
	out.Off = append(out.Off, v.Off...)
	return out
}
