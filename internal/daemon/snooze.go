package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

// snoozes are the hooks that are off for a time.
type snoozes struct {
	markers discovery.Markers
	config  *atomic.Pointer[config.Config]
	changed chan struct{} // hooks were read: a snooze may have come or gone
	reload  func() wire.Reload
	log     *zap.Logger
}

// lookAgain is how often the end of a snooze is compared with the clock: a timer stands still while the machine sleeps,
// and knows nothing of a clock that is set.
const lookAgain = 10 * time.Second

// end switches hooks on again when the time is over for which they were off, until ctx
// ends. A hook whose end has come is on at the next reading of hooks in any case.
func (s *snoozes) end(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-timer.C:
			s.wake()
		}
		next := time.Hour
		for _, one := range s.markers.Snoozed() {
			next = min(next, max(0, time.Until(one.Until))+10*time.Millisecond, lookAgain)
		}
		timer.Reset(next)
	}
}

// wake removes the markers whose end has come, and reads hooks again if there were some.
func (s *snoozes) wake() {
	ended := false
	for _, one := range s.markers.Snoozed() {
		if !one.Over() {
			continue
		}
		if err := catalog.Wake(*s.config.Load(), one.Hook); err != nil {
			s.log.Warn("the marker of a hook whose snooze is over stays", zap.String("hook", one.Hook), zap.Error(err))
			continue
		}
		ended = true
		s.log.Info("a snooze is over", zap.String("hook", one.Hook))
	}
	if ended {
		s.reload()
	}
}

// note has the end of each snooze looked at. It does not wait.
func (s *snoozes) note() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// list lists the hooks that are off for a time, for the status.
func (s *snoozes) list() (all []wire.Snoozed) {
	for _, one := range s.markers.Snoozed() {
		if !one.Over() {
			all = append(all, wire.Snoozed{Hook: one.Hook, Until: one.Until, By: one.By})
		}
	}
	return all
}

// until returns when a hook's snooze ends; zero = it has none.
func (s *snoozes) until(name string) (end time.Time) {
	for _, one := range s.list() {
		if one.Hook == name {
			end = one.Until
		}
	}
	return end
}
