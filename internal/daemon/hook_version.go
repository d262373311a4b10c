package daemon

import (
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/runner"
)

// latestOf looks a hook up in what was discovered. With reload.mode: manual
// only the user reads hooks again.
func latestOf(d *discovery.Discovery, mode string) runner.Latest {
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
