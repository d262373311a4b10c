package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/packaging"
)

// manager is a service manager: its files and its commands.
type manager interface {
	folder() string    // of the files
	folders() []string // that the service needs besides
	names() []string   // of all files there may be
	files(packaging.Service) ([]packaging.File, error)

	start(changed func(name string) bool) []Step
	stop() (before, after []Step) // the files are removed
	tidy()                        // removes links of a manager that cannot be reached

	reachable(ctx context.Context) error // errNoManager: not on this machine
	active(ctx context.Context) bool     // it runs our service, or its socket

	started() []string            // what to know then
	without() []string            // what to do where it is not reachable
	main(ctx context.Context) int // pid of the service's process; 0 = none runs
	halt() []Step                 // end the process; the service stays installed
	look() string                 // where to look for errors
}

// errNoManager is the error when there is no service manager: files would be of no use.
var errNoManager = errors.New("this machine has no service manager for users")

func (m *Machine) manager() manager {
	if m.goos == "darwin" {
		return launchd{m}
	}
	return systemd{m}
}

type systemd struct{ m *Machine }

// ctl is a command to the user's systemd, or to the machine's systemd.
func (s systemd) ctl(args ...string) Step {
	if s.m.ofSystem {
		return Step{argv: append([]string{"systemctl"}, args...)}
	}
	return Step{argv: append([]string{"systemctl", "--user"}, args...)}
}

func (s systemd) folder() string {
	if s.m.ofSystem {
		return s.m.root + "/etc/systemd/system"
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(s.m.home, ".config")
	}
	return filepath.Join(config, "systemd", "user")
}

func (systemd) folders() []string { return nil }
func (systemd) names() []string   { return packaging.SystemdFiles }

func (s systemd) files(of packaging.Service) ([]packaging.File, error) {
	if s.m.ofSystem {
		return of.SystemSystemd()
	}
	return of.Systemd()
}

// start always restarts the service: the program may be a new one. The socket stays
// open, so no event is lost. Only a socket that has moved is closed for a moment.
func (s systemd) start(changed func(string) bool) []Step {
	steps := []Step{s.ctl("daemon-reload")}
	if changed("hookd.socket") {
		stop := s.ctl("stop", "hookd.service", "hookd.socket")
		stop.mayFail = true // the first time there is none
		steps = append(steps, stop)
	}
	return append(steps, s.ctl("enable", "hookd.socket", "hookd.service"), s.ctl("start", "hookd.socket"),
		s.ctl("restart", "hookd.service"))
}

func (s systemd) stop() (before, after []Step) {
	failed := s.ctl("reset-failed", "hookd.service", "hookd.socket")
	failed.mayFail = true
	return []Step{s.ctl("disable", "--now", "hookd.service", "hookd.socket")},
		[]Step{s.ctl("daemon-reload"), failed}
}

// tidy removes the links that enable made.
func (s systemd) tidy() {
	for _, link := range []string{
		"default.target.wants/hookd.service", "multi-user.target.wants/hookd.service", "sockets.target.wants/hookd.socket",
	} {
		path := filepath.Join(s.folder(), link)
		if _, err := os.Stat(path); os.IsNotExist(err) { // it leads nowhere
			os.Remove(path)
		}
	}
}

func (s systemd) reachable(ctx context.Context) error {
	if _, err := exec.LookPath("systemctl"); err != nil {
		return errNoManager
	}
	if said, err := s.m.run(ctx, s.ctl("show", "--property=Version").argv); err != nil {
		said, _, _ = strings.Cut(said, "\n")
		if s.m.ofSystem {
			return fmt.Errorf("systemd does not answer: %s", said)
		}
		return fmt.Errorf("your systemd does not answer: %s", said)
	}
	return nil
}

func (s systemd) active(ctx context.Context) bool {
	_, err := s.m.run(ctx, s.ctl("is-active", "--quiet", "hookd.service", "hookd.socket").argv)
	return err == nil
}

func (s systemd) main(ctx context.Context) int {
	text, err := s.m.run(ctx, s.ctl("show", "--property=MainPID", "--value", "hookd.service").argv)
	pid, _ := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return pid
}

// halt stops the socket as well, which would start the service with the next event.
func (s systemd) halt() []Step {
	return []Step{s.ctl("stop", "hookd.socket", "hookd.service")}
}

func (s systemd) started() []string {
	if s.m.ofSystem {
		return systemNotes("systemctl status hookd", "journalctl -u hookd")
	}
	return []string{
		"hookd runs as a service; see it with `systemctl --user status hookd`, its log with `journalctl --user -u hookd`",
		"to keep it running while you are logged out, type `loginctl enable-linger`",
	}
}

func (s systemd) without() []string {
	if s.m.ofSystem {
		return []string{
			"without systemd, have your init system start it: hookd serve --system, as the user " + system.User +
				", who must own " + filepath.Dir(system.Here().Socket) + " and " + system.Here().State,
		}
	}
	return []string{
		"in a container, make hookd its command, or start it from the entry point: hookd serve",
		"without systemd, start it when you log in, by this line in ~/.profile:",
		"  hookd status >/dev/null 2>&1 || nohup hookd serve >>~/hookd.log 2>&1 &",
		"after su or sudo, or over ssh without a session: type `loginctl enable-linger`, log in as this user, then type `hookd install`",
	}
}

func (s systemd) look() string {
	if s.m.ofSystem {
		return "see why with `sudo systemctl status hookd` and `sudo journalctl -u hookd`"
	}
	return "see why with `systemctl --user status hookd` and `journalctl --user -u hookd`"
}

type launchd struct{ m *Machine }

func launchctl(args ...string) Step { return Step{argv: append([]string{"launchctl"}, args...)} }

func (l launchd) domain() string {
	if l.m.ofSystem {
		return "system"
	}
	return "gui/" + strconv.Itoa(l.m.uid)
}

func (l launchd) label() string {
	if l.m.ofSystem {
		return packaging.SystemLabel
	}
	return packaging.Label
}

func (l launchd) target() string { return l.domain() + "/" + l.label() }

func (l launchd) folder() string {
	if l.m.ofSystem {
		return l.m.root + "/Library/LaunchDaemons"
	}
	return filepath.Join(l.m.home, "Library", "LaunchAgents")
}

func (l launchd) folders() []string {
	if l.m.ofSystem {
		return nil
	}
	return []string{filepath.Join(l.m.home, "Library", "Logs", "hookd")} // launchd makes no folder for a log
}
func (l launchd) names() []string { return []string{l.label() + ".plist"} }

func (l launchd) files(s packaging.Service) ([]packaging.File, error) {
	f, err := s.Launchd()
	if l.m.ofSystem {
		f, err = s.SystemLaunchd()
	}
	return []packaging.File{f}, err
}

func (l launchd) start(func(string) bool) []Step {
	forget := launchctl("bootout", l.target())
	forget.mayFail = true // the first time there is none
	begin := launchctl("bootstrap", l.domain(), filepath.Join(l.folder(), l.label()+".plist"))
	begin.retry = true
	return []Step{forget, launchctl("enable", l.target()), begin}
}

func (l launchd) stop() (before, after []Step) {
	forget := launchctl("bootout", l.target())
	forget.mayFail = true
	return []Step{forget}, nil
}

func (launchd) tidy() {}

func (l launchd) reachable(ctx context.Context) error {
	if _, err := exec.LookPath("launchctl"); err != nil {
		return errNoManager
	}
	if said, err := l.m.run(ctx, launchctl("print", l.domain()).argv); err != nil {
		return fmt.Errorf("launchd has no session of yours: %s", said)
	}
	return nil
}

func (l launchd) active(ctx context.Context) bool {
	_, err := l.m.run(ctx, launchctl("print", l.target()).argv)
	return err == nil
}

func (l launchd) main(ctx context.Context) int {
	text, err := l.m.run(ctx, launchctl("print", l.target()).argv)
	_, rest, found := strings.Cut(text, "\tpid = ")
	if err != nil || !found {
		return 0
	}
	digits, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(digits)
	return pid
}

// halt takes the service out of the session: launchd would start it again.
func (l launchd) halt() []Step { return []Step{launchctl("bootout", l.target())} }

func (l launchd) started() []string {
	if l.m.ofSystem {
		return systemNotes("launchctl print "+l.target(), "less /var/log/hookd.log")
	}
	return []string{"hookd runs as a service; see it with `launchctl print " + l.target() + "`, its log in ~/Library/Logs/hookd/hookd.log"}
}

func (launchd) without() []string {
	return []string{"launchd starts it when you log in at the screen; until then: hookd serve"}
}

func (l launchd) look() string {
	return "see why with `launchctl print " + l.target() + "` and in ~/Library/Logs/hookd/hookd.log"
}
