package daemon

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/wire"
)

// firstCall is how long the second look at all hooks waits, for changes from before they were watched: a call that
// comes right after the start has the processor.
const firstCall = 100 * time.Millisecond

// discoveryOptions returns where hooks are found under settings c.
func (d *Daemon) discoveryOptions(c config.Config) discovery.Options {
	o := catalog.Options(c, d.policy.Home)
	o.Fixed = slices.Concat(d.opts.Hooks, o.Fixed)
	o.Log, o.NoWatch = d.opts.Log, c.ReloadMode == "manual"
	o.LastGood, o.Known = d.lastGood.Text, d.lastGood.Sources
	o.Watching, o.Rest = func() { close(d.watching) }, firstCall
	return o
}

// Reload reads settings and hooks again. A broken one retains its last good version,
// and is among the problems of the answer.
func (d *Daemon) Reload() wire.Reload {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	signals.Reloading()
	defer func() { signals.Ready(d.inventory.summary()) }()

	d.rejected.Store(nil)
	if err := d.reconfigure(); err != nil {
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
		d.meter.noteReload(snap)
		d.fleet.changed()
	}
	return wire.Reload{
		Generation: snap.Generation, Changed: snap.Generation != before,
		Hooks: len(snap.Runnable()), Problems: d.inventory.problems(snap),
	}
}

// reconfigure puts the settings into force that need no restart.
func (d *Daemon) reconfigure() error {
	if d.opts.Reconfigure == nil {
		return nil
	}
	next, err := readSettings(*d.config.Load(), d.files, d.opts.Reconfigure)
	if err != nil {
		return err
	}
	waits := d.opts.Config.NeedsRestart(next)
	if was := d.restart.Swap(&waits); len(waits) > 0 && (was == nil || !maps.Equal(*was, waits)) {
		d.log.Warn("settings need a restart", zap.Strings("settings", slices.Sorted(maps.Keys(waits))))
	}
	next = d.opts.Config.UntilRestart(next)
	d.config.Store(&next)
	d.noteSettings(next)
	d.runner.Configure(next)
	d.asks.Configure(askSettings(next))
	if d.vault.undo != nil {
		d.vault.undo.Configure(undoSettings(next))
	}
	d.store.Configure(storeLimits(next))
	d.forward.Configure(next.Forward)
	d.discovery.Configure(d.discoveryOptions(next))
	if level, err := zapcore.ParseLevel(next.LogLevel); err == nil && d.opts.Level != (zap.AtomicLevel{}) {
		d.opts.Level.SetLevel(level)
	}
	return nil
}

// noteSettings logs and records, once for each text of hookd.yaml, that settings wait
// or have come into force.
func (d *Daemon) noteSettings(c config.Config) {
	if d.changes.Settings(c) && len(c.Held) > 0 {
		d.log.Warn(
			"settings wait to be allowed, the old ones stay in force",
			zap.Strings("settings", c.Held),
			zap.String("type", "hookd allow --settings"),
		)
	}
}

// settingsTime is how long the file system may take for hookd.yaml.
const settingsTime = 5 * time.Second

func readSettings(
	now config.Config, files *readfile.Patience, reconfigure func() (config.Config, error),
) (next config.Config, err error) {
	type result struct {
		config config.Config
		err    error
	}
	read := make(chan result, 1)
	if files.Try("hookd.yaml", func() {
		r := result{err: checkSettings(now)}
		if r.err == nil {
			r.config, r.err = reconfigure()
		}
		read <- r
	}) {
		r := <-read
		return r.config, r.err
	}
	return config.Config{}, fmt.Errorf("read %s: its file system does not answer", now.SettingsFile())
}
