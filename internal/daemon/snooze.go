package daemon

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

// endSnoozes switches hooks on again when the time is over for which they were off, until ctx
// ends. A hook whose end has come is on at the next reading of hooks in any case.
func (d *Daemon) endSnoozes(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.snoozed:
		case <-timer.C:
			d.wakeSnoozed()
		}
		next := time.Hour
		for _, s := range d.markers.Snoozed() {
			next = min(next, max(0, time.Until(s.Until))+10*time.Millisecond)
		}
		timer.Reset(next)
	}
}

// wakeSnoozed removes the markers whose end has come, and reads hooks again if there were some.
func (d *Daemon) wakeSnoozed() {
	ended := false
	for _, s := range d.markers.Snoozed() {
		if time.Now().Before(s.Until) {
			continue
		}
		if err := catalog.Wake(*d.config.Load(), s.Hook); err != nil {
			d.log.Warn("the marker of a hook whose snooze is over stays", zap.String("hook", s.Hook), zap.Error(err))
			continue
		}
		ended = true
		d.log.Info("a snooze is over", zap.String("hook", s.Hook))
	}
	if ended {
		d.Reload()
	}
}

// noteSnoozes has the end of each snooze looked at. It does not wait.
func (d *Daemon) noteSnoozes() {
	select {
	case d.snoozed <- struct{}{}:
	default:
	}
}

// offUntil lists the hooks that are off for a time, for the status.
func (d *Daemon) offUntil() (list []wire.Snoozed) {
	for _, s := range d.markers.Snoozed() {
		if time.Now().Before(s.Until) {
			list = append(list, wire.Snoozed{Hook: s.Hook, Until: s.Until, By: s.By})
		}
	}
	return list
}
