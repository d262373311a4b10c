package daemon

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/wire"
)

// repairPolicy restores the files of the policy as they were signed, before hooks are read. Files
// of the system daemon are root's: a file that differs is refused.
func (d *Daemon) repairPolicy() {
	if d.config.Load().System {
		return
	}
	d.files.Try("policy", func() {
		differed, err := d.policy.Repair()
		switch {
		case err != nil:
			d.log.Error("the policy is not as it was signed, and cannot be repaired", zap.Error(err))
		case differed != "":
			d.log.Warn("the policy was not as it was signed, and was written again", zap.String("file", differed))
		}
	})
}

// followPolicy asks the source of the policy for a newer bundle, now and each interval,
// until ctx ends. No verdict waits for it. For the system daemon root does that.
func (d *Daemon) followPolicy(ctx context.Context) {
	if d.config.Load().System {
		return
	}
	said := ""
	for {
		said = d.updatePolicy(ctx, said)
		timer := time.NewTimer(d.config.Load().PolicyInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			d.repairPolicy()
		}
	}
}

// updatePolicy logs a failure once, said being the last one.
func (d *Daemon) updatePolicy(ctx context.Context, said string) string {
	c := *d.config.Load()
	r, err := d.policy.Update(ctx, catalog.CheckPolicy(c, d.discovery.Readings()))
	switch {
	case errors.Is(err, policy.ErrUnset), ctx.Err() != nil:
		return ""
	case err != nil:
		if text := err.Error(); text != said {
			d.log.Warn("the policy could not be updated, what is in force stays so", zap.Error(err))
			return text
		}
		return said
	case r.Changed:
		m := r.Current.Manifest
		d.log.Info("a new policy is in force", zap.String("name", m.Name), zap.Uint64("sequence", m.Sequence))
		d.discovery.Load()
		d.sweepPolicy()
	}
	return ""
}

// sweepPolicy removes bundles that hooks are not read from any more.
func (d *Daemon) sweepPolicy() {
	if err := d.policy.Sweep(); err != nil {
		d.log.Warn("bundles of the policy that are not in force cannot be removed", zap.Error(err))
	}
}

// policyInfo is the policy for status; nil = none is set. Files that do not answer, and
// a policy that is not known, are among the problems.
func (d *Daemon) policyInfo() *wire.Policy {
	if now, set := d.policyNow(); set {
		return infoOf(now)
	}
	return nil
}

// policyNow is the policy that is set; false = none is, or it is not known.
func (d *Daemon) policyNow() (now policy.Current, set bool) {
	found := make(chan policy.Current, 1)
	read := d.files.Try("policy", func() {
		defer close(found)
		now, set, err := d.policy.Current()
		if err == nil && set {
			found <- now
		}
	})
	if read {
		now, set = <-found
	}
	return now, set
}

// infoOf is a policy in the form that people read.
func infoOf(now policy.Current) *wire.Policy {
	info := &wire.Policy{
		Name: now.Manifest.Name, Sequence: now.Manifest.Sequence, Source: now.State.Source,
		Expires: now.Manifest.Expires, Fetched: now.State.Fetched, Checked: now.State.Checked, Error: now.State.Error,
	}
	if key, err := policy.PublicKey(now.State.Key); err == nil {
		info.Key = policy.Fingerprint(key)
	}
	return info
}
