package daemon

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/wire"
)

// TestSnoozeEndsAfterSleep ends it soon after the clock has gone on without timers, as of a machine that sleeps.
func TestSnoozeEndsAfterSleep(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg := &atomic.Pointer[config.Config]{}
		cfg.Store(&config.Config{Home: home})
		m := discovery.NewMarkers(cfg.Load().DisabledDir())
		hooktest.Must(t, m.Snooze("guard", "mira", time.Now().Add(time.Hour)))
		var reloads atomic.Int32
		s := &snoozes{markers: m, config: cfg, changed: make(chan struct{}), log: zap.NewNop(),
			reload: func() wire.Reload { reloads.Add(1); return wire.Reload{} }}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.end(ctx)
		<-time.After(time.Second)
		hooktest.Must(t, m.Snooze("guard", "mira", time.Now())) // a clock that went on is at the end
		<-time.After(30 * time.Second)
		if reloads.Load() != 1 || m.Disabled()("guard") {
			t.Errorf("%d reloads, and the guard is off: %v", reloads.Load(), m.Disabled()("guard"))
		}
	})
}
