package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/roster"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/watchdir"
	"github.com/hookd/hookd/internal/events"
)

// How often the settings and bridges of the agents that were connected are looked at.
const (
	lookEvery   = 20 * time.Second // where the system does not report changes, and while one is unguarded
	lookWatched = time.Hour        // where it does
	lookLeast   = 5 * time.Second  // between a change and the look
)

// agentWatch looks whether the agents that were connected still call hookd.
type agentWatch struct {
	config *atomic.Pointer[config.Config]
	missed func(env events.Envelope, why string) // records a call that no hook was asked about
	faults func([]roster.Fault)                  // takes those of each look
	log    *zap.Logger
}

// run finds agents that do not call hookd any more, until ctx ends. A look whose files hang is
// left behind then.
func (w *agentWatch) run(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.look(ctx)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// look looks now, and after each change of a file that the last look depends on.
func (w *agentWatch) look(ctx context.Context) {
	var looker roster.Looker
	if err := roster.Adopt(w.config.Load().Home, bridgePath()); err != nil {
		w.log.Warn("an upgrade of the bridges is not noted", zap.Error(err))
	}
	missed := w.folder()
	var changed <-chan struct{}
	watcher, err := watchdir.New()
	if err == nil {
		changed = watcher.Changed()
		defer watcher.Close()
	}
	for {
		every, home := lookEvery, w.config.Load().Home
		places := roster.Places(home)
		places.Add(missed, "")
		if watcher != nil && watcher.Watch(places) == nil { // before the look: a change meanwhile is seen
			every = lookWatched
		}
		young := w.take(missed)
		faults, err := looker.Look(home)
		if err != nil {
			w.log.Warn("it is not known which agents are connected", zap.Error(err))
		} else {
			w.faults(faults)
		}
		switch {
		case young:
			every = missedRests
		case err != nil || len(faults) > 0:
			every = lookEvery
		}
		if !waitFirst(ctx, changed, every) {
			return
		}
		if !waitFirst(ctx, nil, lookLeast) { // a change is often one of many
			return
		}
	}
}

// folder is the folder of the calls that bridges could not ask about.
func (w *agentWatch) folder() string { return w.config.Load().Socket + connect.MissedSuffix }

// makeFolder makes the folder, but not for the system's daemon: agents of users cannot write there.
func (w *agentWatch) makeFolder() {
	if w.config.Load().System {
		return
	}
	if err := os.MkdirAll(w.folder(), 0o700); err != nil {
		w.log.Warn("calls whose bridge fails are not told of", zap.Error(err))
	}
}

// take records the calls that bridges could not ask about, from the payloads that the shells behind them
// left in a folder, and removes these. young says that one may still be written. The folder is the user's: its
// texts prove as little as an event.
func (w *agentWatch) take(folder string) (young bool) {
	list, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.log.Warn("it is not known whether bridges have failed", zap.Error(err))
	}
	for _, f := range list[:min(len(list), mostMissed)] {
		path := filepath.Join(folder, f.Name())
		agent, event, _ := strings.Cut(strings.TrimSuffix(f.Name(), filepath.Ext(f.Name())), ".")
		info, err := f.Info()
		if err != nil {
			continue
		}
		if age := time.Since(info.ModTime()); age > 0 && age < missedRests {
			young = true
			continue
		}
		payload, _ := readfile.Read(path, readfile.Limit) // without it the call is told of all the same
		if err := os.Remove(path); err != nil {
			w.log.Warn("a call whose bridge failed stays in its folder", zap.Error(err))
			continue // a folder there must not hide the others
		}
		if !connect.IsGuarded(agent, event) {
			continue
		}
		env := bridge.Missed(agent, event, payload)
		env.At = info.ModTime()
		w.missed(env, "hookd-bridge is missing or broken, so no hook was asked")
	}
	return young
}

const (
	mostMissed  = 1000        // failures of bridges that one look takes
	missedRests = time.Second // a payload that changed later may still be written
)

// waitFirst waits for a change or so long, and returns false when ctx has ended.
func waitFirst(ctx context.Context, changed <-chan struct{}, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-timer.C:
	}
	return true
}

// noteFaults tells of each agent that has just ceased to call hookd, and of each that does again.
func (d *Daemon) noteFaults(faults []roster.Fault) {
	fresh, mended := d.unguarded.faultsNow(faults)
	for _, f := range fresh {
		d.log.Warn("an agent is unguarded",
			zap.String("agent", f.Agent), zap.String("why", f.Why), zap.String("do", f.Do))
		d.emitOwn(events.EventUnguarded,
			member("agent", f.Agent), member("cwd", f.Project), member("why", f.Why), member("do", f.Do))
	}
	for _, f := range mended {
		d.log.Info("an agent is guarded again", zap.String("agent", f.Agent), zap.String("project", f.Project))
	}
}
