// Package signals turns signals of the operating system into intents, and reports
// the daemon's state to the service manager. It knows nothing of hooks.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Intent is the action that a signal asks for.
type Intent int

const (
	Reload Intent = iota // SIGHUP
	Drain                // the first SIGTERM or SIGINT
	Now                  // the second
)

// How long the process may live after the first signal to stop, which is longer than
// it takes where nothing hangs, and after the second.
const (
	FirstGrace = 20 * time.Second
	LastGrace  = 5 * time.Second
)

// Watch handles signals from its return on, and sends the Intent of each until ctx
// ends. It never blocks on that: while a reload is not received yet, further ones are
// dropped, and after a signal to stop there is none. If the process still lives
// FirstGrace after the first signal to stop, LastGrace after the second, or at the
// third, Watch calls end.
func Watch(ctx context.Context, end func()) <-chan Intent {
	raw := make(chan os.Signal, 16)
	signal.Notify(raw, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	intents := make(chan Intent, 3) // one of each
	go func() {
		defer signal.Stop(raw)
		var last <-chan time.Time
		for stops := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-last:
				end()
			case s := <-raw:
				switch {
				case s == syscall.SIGHUP:
					if stops == 0 && len(intents) == 0 {
						intents <- Reload
					}
					continue
				case stops == 0:
					intents <- Drain
					last = time.After(FirstGrace)
				case stops == 1:
					intents <- Now
					last = time.After(LastGrace)
				default:
					end()
				}
				stops++
			}
		}
	}()
	return intents
}

// Ready reports to the service manager that the daemon serves, with a line of
// status for `systemctl status`. Without a service manager nothing happens.
func Ready(status string) { notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Reloading reports to the service manager that a reload begins; Ready ends it.
func Reloading() { notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec()) }

// Stopping reports to the service manager that the daemon is shutting down, with a
// line of status.
func Stopping(status string) { notify(daemon.SdNotifyStopping + "\nSTATUS=" + status) }

// Watchdog reports to the service manager that the daemon is alive, each time after
// alive has returned: while alive blocks it reports nothing, and the manager ends the
// daemon. It does so twice in the manager's interval, until ctx ends, and returns at
// once when the manager has not asked for it.
func Watchdog(ctx context.Context, alive func()) {
	patience, err := daemon.SdWatchdogEnabled(false)
	if err != nil || patience <= 0 {
		return
	}
	tick := time.NewTicker(patience / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			alive()
			notify(daemon.SdNotifyWatchdog)
		}
	}
}

// notify ignores errors: hookd works without a service manager.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }

// ServiceVariables belong to hookd and its service manager; hooks do not inherit
// them.
var ServiceVariables = []string{
	"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_PIDFDID",
	"INVOCATION_ID", "JOURNAL_STREAM", "MAINPID",
}
