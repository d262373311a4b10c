// Package signals turns what the operating system and the service manager say
// into intents, and tells the service manager how the daemon is. It knows
// nothing of hooks.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Intent is what a signal asks for.
type Intent int

const (
	Reload Intent = iota // SIGHUP
	Drain                // the first SIGTERM or SIGINT
	Now                  // the second
)

// Watch reports intents until ctx ends. A reload that is not read yet stands
// for all that follow; the other intents are never dropped.
func Watch(ctx context.Context) <-chan Intent {
	raw := make(chan os.Signal, 16)
	signal.Notify(raw, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	intents := make(chan Intent, 4)
	go func() {
		defer signal.Stop(raw)
		stops := 0
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-raw:
				switch {
				case s == syscall.SIGHUP:
					select {
					case intents <- Reload:
					default:
					}
				case stops == 0:
					stops++
					intents <- Drain
				case stops == 1:
					stops++
					intents <- Now
				}
			}
		}
	}()
	return intents
}

// Ready tells the service manager that the daemon serves, with a line of
// status for `systemctl status`. Without a service manager nothing happens.
func Ready(status string) { notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Reloading tells the service manager that a reload begins; Ready ends it.
func Reloading() { notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec()) }

// Stopping tells the service manager that the daemon is shutting down, with a
// line of status.
func Stopping(status string) { notify(daemon.SdNotifyStopping + "\nSTATUS=" + status) }

// Watchdog tells the service manager that the daemon is alive, each time after
// alive has returned: while that blocks nothing is said, and the manager ends a
// daemon that hangs. It does so at half the manager's patience, until ctx ends,
// and returns at once when the manager has not asked for it.
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

// notify ignores errors: hookd needs nothing of the manager.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }

// ServiceVariables belong to hookd and its service manager; hooks do not
// inherit them (SPEC 7.1).
var ServiceVariables = []string{
	"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_PIDFDID",
	"INVOCATION_ID", "JOURNAL_STREAM", "MAINPID",
}
