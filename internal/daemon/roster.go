package daemon

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/agents/roster"
	"github.com/hookd/hookd/internal/events"
)

// lookEvery is how often the settings and bridges of the agents that were connected are looked at.
const lookEvery = 20 * time.Second

// watchAgents finds agents that do not call hookd any more, until ctx ends. A look whose files hang is
// left behind then.
func (d *Daemon) watchAgents(ctx context.Context) {
	var looker roster.Looker
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			faults, err := looker.Look(d.config.Load().Home, ownBridge())
			if err != nil {
				d.log.Warn("it is not known which agents are connected", zap.Error(err))
				return
			}
			d.noteFaults(faults)
		}()
		select {
		case <-looked:
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ownBridge is the bridge beside this program; "" = it cannot be found.
func ownBridge() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "hookd-bridge")
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
