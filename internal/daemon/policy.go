package daemon

import (
	"context"
	"errors"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/wire"
)

// policyLayer reads, repairs and updates the policy of this machine.
type policyLayer struct {
	policy.Home
	config *atomic.Pointer[config.Config]
	files  *readfile.Patience
	hooks  *discovery.Discovery
	log    *zap.Logger
}

// repair restores the files of the policy as they were signed, before hooks are read. Files
// of the system daemon are root's: a file that differs is refused.
func (l *policyLayer) repair() {
	if l.config.Load().System {
		return
	}
	l.files.Try("policy", func() {
		differed, err := l.Repair()
		switch {
		case err != nil:
			l.log.Error("the policy is not as it was signed, and cannot be repaired", zap.Error(err))
		case differed != "":
			l.log.Warn("the policy was not as it was signed, and was written again", zap.String("file", differed))
		}
	})
}

// follow asks the source of the policy for a newer bundle, now and each interval,
// until ctx ends. No verdict waits for it. For the system daemon root does that.
func (l *policyLayer) follow(ctx context.Context) {
	if l.config.Load().System {
		return
	}
	said := ""
	for {
		said = l.update(ctx, said)
		if !pause.For(l.config.Load().PolicyInterval, ctx.Done()) {
			return
		}
		l.repair()
	}
}

// update logs a failure once, said being the last one.
func (l *policyLayer) update(ctx context.Context, said string) string {
	c := *l.config.Load()
	r, err := l.Update(ctx, catalog.CheckPolicy(c, l.hooks.Readings()))
	switch {
	case errors.Is(err, policy.ErrUnset), ctx.Err() != nil:
		return ""
	case err != nil:
		if text := err.Error(); text != said {
			l.log.Warn("the policy could not be updated, what is in force stays so", zap.Error(err))
			return text
		}
		return said
	case r.Changed:
		m := r.Current.Manifest
		l.log.Info("a new policy is in force", zap.String("name", m.Name), zap.Uint64("sequence", m.Sequence))
		l.hooks.Load()
		l.sweep()
	}
	return ""
}

// sweep removes bundles that hooks are not read from any more.
func (l *policyLayer) sweep() {
	if err := l.Sweep(); err != nil {
		l.log.Warn("bundles of the policy that are not in force cannot be removed", zap.Error(err))
	}
}

// info is the policy for status; nil = none is set. Files that do not answer, and
// a policy that is not known, are among the problems.
func (l *policyLayer) info() *wire.Policy {
	if now, set := l.now(); set {
		return infoOf(now)
	}
	return nil
}

// now is the policy that is set; false = none is, or it is not known.
func (l *policyLayer) now() (now policy.Current, set bool) {
	found := make(chan policy.Current, 1)
	read := l.files.Try("policy", func() {
		defer close(found)
		now, set, err := l.Current()
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
