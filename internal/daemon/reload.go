package daemon

import (
	"path/filepath"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/builtin"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/judge"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/internal/source/dockeragent"
	"github.com/hookd/hookd/internal/source/familiar"
	"github.com/hookd/hookd/internal/source/hookdir"
)

// discoveryOptions say where hooks are found under settings c.
func (d *Daemon) discoveryOptions(c config.Config) discovery.Options {
	return discovery.Options{
		Root: c.HooksDir, Read: readOptions(c, false), Disabled: d.markers.Disabled, Log: d.opts.Log,
		Files: fileSources(c), Fixed: d.opts.Hooks, NoWatch: d.opts.Config.ReloadMode == "manual",
		Approved: approved(d.opts.Config), LastGood: d.lastGood, Settled: func() { close(d.settled) },
	}
}

// fileSources are the files that the settings name under sources.
func fileSources(c config.Config) []discovery.FileSource {
	var list []discovery.FileSource
	for _, s := range c.Sources {
		list = append(list, discovery.FileSource{Type: s.Type, Pattern: s.Path, Read: fileReaders[s.Type], Parse: fileParsers[s.Type]})
	}
	return list
}

// fileReaders read one file of a source, by the source's type.
var fileReaders = map[string]func(path string) ([]*hook.Hook, []hook.Problem){
	dockeragent.SourceType: func(path string) ([]*hook.Hook, []hook.Problem) {
		return dockeragent.Read(path, dockeragent.Options{})
	},
	familiar.SourceType: func(path string) ([]*hook.Hook, []hook.Problem) {
		return familiar.Read(path, familiar.Options{})
	},
}

// fileParsers do the same with text that the file had once.
var fileParsers = map[string]func(path string, text []byte) ([]*hook.Hook, []hook.Problem){
	dockeragent.SourceType: func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
		return dockeragent.Parse(path, text, dockeragent.Options{})
	},
	familiar.SourceType: func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
		return familiar.Parse(path, text, familiar.Options{})
	},
}

// FlagHooks makes the hooks of docker-agent's --hook-… flags: commands by
// event, run in dir unless the event has a directory of its own.
func FlagHooks(commands map[string][]string, dir string) []*hook.Hook {
	return dockeragent.FromFlags(commands, dir, dockeragent.Options{})
}

// HookFlags are docker-agent's flags and the events that they add hooks to.
func HookFlags() []dockeragent.Flag { return dockeragent.Flags() }

func readOptions(c config.Config, strict bool) hookdir.Options {
	return hookdir.Options{
		Strict: strict, KnownEvents: eventNames(), Path: c.Path,
		Timeouts: map[hook.Type]time.Duration{
			hook.Command: c.TimeoutCommand, hook.Script: c.TimeoutScript, hook.Builtin: c.TimeoutBuiltin, hook.Model: c.TimeoutModel,
		},
		Builtins:   builtin.Names(),
		CheckModel: checkModel,
	}
}

// checkModel holds a model hook to what its events can use.
func checkModel(h *hook.Hook) error {
	for _, p := range h.Patterns {
		if err := judge.Check(h.Model, h.Prompt, h.Schema, events.Lookup(p.Text)); err != nil {
			return err
		}
	}
	return nil
}

func eventNames() []string {
	var names []string
	for _, c := range events.All() {
		names = append(names, c.Name)
	}
	return names
}

// Reload reads settings and hooks again. What is broken keeps its last good
// version and stands among the problems of the answer.
func (d *Daemon) Reload() api.Reload {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	signals.Reloading()
	defer func() { signals.Ready(d.summary()) }()

	d.rejected.Store(nil)
	if err := d.reconfigure(); err != nil {
		d.log.Error("settings kept, the new ones are rejected", zap.Error(err))
		d.rejected.Store(&api.Problem{File: filepath.Join(d.config.Load().Home, "hookd.yaml"), Message: err.Error(), Hint: "correct it, then type `hookd reload`"})
	}
	before := d.discovery.Current().Generation
	snap := d.discovery.Load()
	if snap.Generation == before { // else publish says so
		d.noteReload(snap)
	}
	return api.Reload{
		Generation: snap.Generation, Changed: snap.Generation != before,
		Hooks: len(snap.Runnable()), Problems: d.problems(snap),
	}
}

// reconfigure puts new settings into force, as far as that needs no restart.
func (d *Daemon) reconfigure() error {
	if d.opts.Reconfigure == nil {
		return nil
	}
	if err := checkSettings(d.config.Load().Home); err != nil {
		return err
	}
	next, err := d.opts.Reconfigure()
	if err != nil {
		return err
	}
	current := d.config.Load()
	if names := current.NeedsRestart(next); len(names) > 0 {
		d.log.Warn("settings need a restart", zap.Strings("settings", names))
	}
	d.config.Store(&next)
	d.runner.configure(next)
	d.store.Configure(storePolicy(next))
	d.discovery.Configure(d.discoveryOptions(next))
	if level, err := zapcore.ParseLevel(next.LogLevel); err == nil && d.opts.Level != (zap.AtomicLevel{}) {
		d.opts.Level.SetLevel(level)
	}
	return nil
}

// change is one hook that came, went or is another than before.
type change struct{ name, what, digest string }

// changes compares two snapshots hook by hook.
func changes(before, now *hook.Snapshot) (list []change) {
	old := map[string]*hook.Hook{}
	for _, h := range before.Runnable() {
		old[h.ID] = h
	}
	for _, h := range now.Runnable() {
		was, known := old[h.ID]
		delete(old, h.ID)
		switch {
		case !known:
			list = append(list, change{h.Name, "added", h.Digest})
		case was.Digest != h.Digest:
			list = append(list, change{h.Name, "changed", h.Digest})
		}
	}
	for _, h := range before.Runnable() {
		if _, gone := old[h.ID]; gone {
			list = append(list, change{h.Name, "removed", h.Digest})
		}
	}
	return list
}
