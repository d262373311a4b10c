package daemon

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/wire"
)

// firstCall is how long the second look at all hooks waits, for changes from before they were watched: a call that
// comes right after the start has the processor.
const firstCall = 100 * time.Millisecond

// reloader puts new settings in force.
type reloader struct{ d *Daemon }

// discoveryOptions returns where hooks are found under settings c.
func (r reloader) discoveryOptions(c config.Config) discovery.Options {
	o := catalog.Options(c, r.d.policy.Home)
	o.Fixed = slices.Concat(r.d.opts.Hooks, o.Fixed)
	o.Approved = catalog.Options(r.d.opts.Config, r.d.policy.Home).Approved // reload.mode needs a restart
	o.Log, o.NoWatch = r.d.opts.Log, r.d.opts.Config.ReloadMode == "manual"
	o.LastGood, o.Known = r.d.lastGood.Text, r.d.lastGood.Units
	o.Watching, o.Rest = func() { close(r.d.watching) }, firstCall
	return o
}

// Reload reads settings and hooks again. A broken one retains its last good version,
// and is among the problems of the answer.
func (d *Daemon) Reload() wire.Reload {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	signals.Reloading()
	defer func() { signals.Ready(inventory{d}.summary()) }()

	d.rejected.Store(nil)
	if err := (reloader{d}).reconfigure(); err != nil {
		d.log.Error("the new settings are rejected, the old ones stay in force", zap.Error(err))
		d.rejected.Store(
			&wire.Problem{
				File:    d.config.Load().SettingsFile(),
				Message: err.Error(),
				Hint:    "correct it, then type `hookd reload`",
			},
		)
	}
	d.policy.repair()
	before := d.discovery.Current().Generation
	snap := d.discovery.Load()
	d.snoozes.note()
	if snap.Generation == before { // else publish says so
		gauges{d}.noteReload(snap)
		d.fleet.changed()
	}
	return wire.Reload{
		Generation: snap.Generation, Changed: snap.Generation != before,
		Hooks: len(snap.Runnable()), Problems: inventory{d}.problems(snap),
	}
}

// reconfigure puts the settings into force that need no restart.
func (r reloader) reconfigure() error {
	if r.d.opts.Reconfigure == nil {
		return nil
	}
	next, err := r.readSettings(*r.d.config.Load())
	if err != nil {
		return err
	}
	current := r.d.config.Load()
	if names := current.NeedsRestart(next); len(names) > 0 {
		r.d.log.Warn("settings need a restart", zap.Strings("settings", names))
	}
	r.d.config.Store(&next)
	r.noteSettings(next)
	r.d.runner.Configure(next)
	r.d.asks.Configure(askSettings(next))
	if r.d.undo != nil {
		r.d.undo.Configure(undoSettings(next))
	}
	r.d.store.Configure(storeLimits(next))
	r.d.forward.Configure(next.Forward)
	r.d.discovery.Configure(r.discoveryOptions(next))
	if level, err := zapcore.ParseLevel(next.LogLevel); err == nil && r.d.opts.Level != (zap.AtomicLevel{}) {
		r.d.opts.Level.SetLevel(level)
	}
	return nil
}

// noteSettings logs and records, once for each text of hookd.yaml, that settings wait
// or have come into force.
func (r reloader) noteSettings(c config.Config) {
	if r.d.changes.Settings(c) && len(c.Held) > 0 {
		r.d.log.Warn(
			"settings wait to be allowed, the old ones stay in force",
			zap.Strings("settings", c.Held),
			zap.String("type", "hookd allow --settings"),
		)
	}
}

// settingsTime is how long the file system may take for hookd.yaml.
const settingsTime = 5 * time.Second

func (r reloader) readSettings(now config.Config) (next config.Config, err error) {
	type result struct {
		config config.Config
		err    error
	}
	read := make(chan result, 1)
	if r.d.files.Try("hookd.yaml", func() {
		of := result{err: checkSettings(now)}
		if of.err == nil {
			of.config, of.err = r.d.opts.Reconfigure()
		}
		read <- of
	}) {
		of := <-read
		return of.config, of.err
	}
	return config.Config{}, fmt.Errorf("read %s: its file system does not answer", now.SettingsFile())
}
