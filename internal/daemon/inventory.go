package daemon

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/door/loopback"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/recorder"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// inventory answers for the hooks: their entries, states and problems.
type inventory struct {
	config    *atomic.Pointer[config.Config]
	rejected  *atomic.Pointer[wire.Problem]      // see Daemon.rejected
	restart   *atomic.Pointer[map[string]string] // see Daemon.restart
	suspects  *suspects
	discovery *discovery.Discovery
	projects  *project.Finder
	runner    *runner.Runner
	recorder  *recorder.Recorder
	snoozes   *snoozes
	doors     []*loopback.Door // nil = there is none
}

// find returns the entry of a hook by id or name.
func (i *inventory) find(name string) (hook.Entry, *wire.Error) {
	var names []string
	for _, e := range i.discovery.Current().Entries {
		if e.Name == name || e.Hook != nil && (e.Hook.ID == name || e.Hook.Name == name) {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return hook.Entry{}, catalog.NoHook(name, i.config.Load().HooksDir, names)
}

// testable returns the hook that may be run now, whether it is enabled or not.
func (i *inventory) testable(name string) (*hook.Hook, *wire.Error) {
	e, err := i.find(name)
	switch {
	case err != nil:
		return nil, err
	case e.State == hook.Waiting:
		return nil, &wire.Error{
			Code:    wire.CodeRejected,
			Message: "hook " + catalog.Worst(e.Problems).String(),
			Hint:    "look at it with `hookd allow`, try it with `hookd test --local " + escape.Quote(e.Name) + "`",
		}
	case e.Hook == nil:
		return nil, &wire.Error{
			Code:    wire.CodeRejected,
			Message: fmt.Sprintf("hook %s is rejected: %s", e.Name, catalog.Worst(e.Problems).String()),
			Hint:    "correct the file, then type `hookd reload`",
		}
	}
	return e.Hook, nil
}

// hook is catalog.Show with the daemon's knowledge of the hook.
func (i *inventory) hook(e hook.Entry) wire.Hook {
	a := catalog.Show(e)
	if i.fails(e) {
		a.State, a.Problems = string(hook.Degraded), append(a.Problems, i.suspects.problems(e.Hook)...)
	}
	if e.Hook != nil && e.Hook.Persistent {
		a.Persistent = i.workers(e.Hook)
	}
	if e.State == hook.Disabled {
		a.Until = i.snoozes.until(a.Name)
	}
	if e.Hook != nil || !i.runs(a.Name) { // else another hook of the name has them
		a.Counts, a.LastRun = i.recorder.Counts(a.Name)
	}
	return a
}

// runs reports whether a hook of that name is loaded.
func (i *inventory) runs(name string) bool {
	return slices.ContainsFunc(i.discovery.Current().Entries, func(e hook.Entry) bool {
		return e.Hook != nil && e.Name == name
	})
}

// fails reports whether an entry is a guard that loads and does not work.
func (i *inventory) fails(e hook.Entry) bool {
	return e.Hook != nil && e.State == hook.Active &&
		(e.Hook.NoStart && e.Hook.IsGuard() || len(i.suspects.problems(e.Hook)) > 0)
}

// states counts hooks by the state that hook shows: guards that do not work are degraded.
func (i *inventory) states(snap *hook.Snapshot) map[string]int {
	count := snap.States()
	for _, e := range snap.Entries {
		if i.fails(e) {
			count[string(hook.Active)]--
			count[string(hook.Degraded)]++
		}
	}
	return count
}

// workers returns the workers of a persistent hook.
func (i *inventory) workers(h *hook.Hook) *wire.Persistent {
	list, starts := i.runner.Workers(h)
	return &wire.Persistent{Copies: append([]wire.Worker{}, list...), Starts: starts}
}

// summary is the line that the service manager shows.
func (i *inventory) summary() string {
	snap := i.discovery.Current()
	count := i.states(snap)
	parts := []string{fmt.Sprintf("%d hooks", len(snap.Runnable()))}
	for _, state := range []hook.State{
		hook.Degraded, hook.Rejected, hook.Refused, hook.Waiting, hook.Gone, hook.Disabled,
	} {
		if n := count[string(state)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// restarts returns the settings whose change waits for a restart, with the values that are in force.
func (i *inventory) restarts() map[string]string {
	if waits := i.restart.Load(); waits != nil {
		return *waits
	}
	return nil
}

// waitingSettings returns the problems that changed settings wait: for a person, or for a restart.
func (i *inventory) waitingSettings() []wire.Problem {
	c := *i.config.Load()
	list := catalog.HeldSettings(c)
	if waits := i.restarts(); len(waits) > 0 {
		names := strings.Join(slices.Sorted(maps.Keys(waits)), ", ")
		list = append(list, wire.Problem{
			File: c.SettingsFile(), Warning: true, Hint: c.Restart(),
			Message: "until a restart the old values stay in force: " + names,
		})
	}
	return list
}

// problems returns the problems of the settings, of no hook in particular, and of each
// hook.
func (i *inventory) problems(snap *hook.Snapshot) []wire.Problem {
	list := []wire.Problem{}
	if p := i.rejected.Load(); p != nil {
		list = append(list, *p)
	}
	for _, door := range i.doors {
		if p := door.Problem(); p != nil {
			list = append(list, *p)
		}
	}
	list = append(list, i.waitingSettings()...)
	list = append(list, snap.Problems...)
	for _, root := range i.projects.Untrusted() {
		list = append(list, wire.Problem{
			File: filepath.Join(root, project.HooksDir), Hint: "hookd trust " + escape.Quote(root), Warning: true,
			Message: "hooks of this repository do not run: it is not trusted",
		})
	}
	for _, e := range snap.Entries {
		list = append(list, e.Problems...)
	}
	return list
}
