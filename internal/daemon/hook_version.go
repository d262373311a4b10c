package daemon

import (
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/run/runner"
)

// hookInForce returns a function that returns the current version of a hook, nil if there
// is none. With again it first reads all hooks, but not with reload.mode: manual, where
// only the user does that.
func hookInForce(d *discovery.Discovery, mode string) runner.InForce {
	return func(id string, again bool) *hook.Hook {
		snap := d.Current()
		if again && mode != "manual" {
			snap = d.Load()
		}
		for _, e := range snap.Entries {
			if e.Hook != nil && e.Hook.ID == id {
				return e.Hook
			}
		}
		return nil
	}
}
