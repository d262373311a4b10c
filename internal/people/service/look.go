package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/people/doctor"
)

// Look examines the service: installed, enabled, running. That hookd runs in another
// way is no problem.
func (m *Machine) Look(ctx context.Context) []doctor.Finding {
	mgr := m.manager()
	s := state{manager: mgr, machine: m, files: installedFiles(mgr), missing: mgr.reachable(ctx)}
	switch {
	case errors.Is(s.missing, errNoManager):
		return s.say(doctor.OK, "", "%v; start it with `hookd serve`", s.missing)
	case s.missing != nil && len(s.files) == 0:
		return s.say(doctor.OK, "", "not installed, and not possible here: %v", s.missing)
	case s.missing != nil:
		return s.say(doctor.Note, "hookd install", "%s is there, but %v", s.files[0], s.missing)
	}
	if m.goos == "darwin" {
		return s.launchd(ctx)
	}
	return s.systemd(ctx)
}

// state is the state of the service.
type state struct {
	manager manager
	machine *Machine
	files   []string // of the service that exist
	missing error    // why the service manager cannot be asked
}

func installedFiles(mgr manager) (list []string) {
	for _, name := range mgr.names() {
		if path := filepath.Join(mgr.folder(), name); exists(path) {
			list = append(list, path)
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s state) say(level doctor.Level, do, format string, args ...any) []doctor.Finding {
	return []doctor.Finding{{Check: "service", Level: level, Found: fmt.Sprintf(format, args...), Do: do}}
}

func (s state) launchd(ctx context.Context) []doctor.Finding {
	switch active := s.manager.active(ctx); {
	case len(s.files) == 0:
		return s.say(doctor.Note, "hookd install", "hookd is not installed as a service: it does not start when you log in")
	case !active:
		return s.say(doctor.Problem, "hookd install", "%s is there, but launchd does not have it", s.files[0])
	}
	return s.say(doctor.OK, "", "installed as %s, and loaded", s.files[0])
}

// systemd examines both units, whichever user installed them.
func (s state) systemd(ctx context.Context) []doctor.Finding {
	unit, err := s.properties(ctx, "hookd.service")
	if err != nil {
		return s.say(doctor.Note, "systemctl --user status hookd", "%v", err)
	}
	switch {
	case unit["LoadState"] == "not-found":
		return s.say(doctor.Note, "hookd install", "hookd is not installed as a service: it does not start when you log in")
	case unit["LoadState"] != "loaded":
		return s.say(doctor.Problem, "hookd install", "systemd cannot read hookd.service: it is %s", unit["LoadState"])
	case unit["ActiveState"] == "failed":
		return s.say(doctor.Problem, "journalctl --user -u hookd -n 20", "hookd.service has failed: %s", unit["Result"])
	case unit["NeedDaemonReload"] == "yes":
		return s.say(doctor.Note, "systemctl --user daemon-reload", "hookd.service has changed since systemd read it")
	case !strings.HasPrefix(unit["UnitFileState"], "enabled"):
		return s.say(doctor.Note, "systemctl --user enable hookd.socket hookd.service", "hookd.service is %s: it does not start when you log in", unit["UnitFileState"])
	}
	found := s.say(doctor.OK, "", "%s, %s and %s", unit["FragmentPath"], unit["UnitFileState"], unit["ActiveState"])
	if restarts := unit["NRestarts"]; restarts != "" && restarts != "0" {
		found = append(found, s.say(doctor.Note, "journalctl --user -u hookd -n 50",
			"systemd has started it again %s times since it was started by hand", restarts)...)
	}
	return append(found, s.linger()...)
}

// linger: without it the user's services end with the last session.
func (s state) linger() []doctor.Finding {
	u, err := user.Current()
	if err != nil || exists(filepath.Join("/var/lib/systemd/linger", u.Username)) {
		return nil
	}
	return s.say(doctor.Note, "loginctl enable-linger "+escape.Quote(u.Username), "it stops when you log out")
}

// properties returns systemd's properties of a unit.
func (s state) properties(ctx context.Context, unit string) (map[string]string, error) {
	said, err := s.machine.run(ctx, systemd{s.machine}.ctl("show",
		"--property=LoadState,ActiveState,UnitFileState,NeedDaemonReload,FragmentPath,Result,NRestarts", unit).argv)
	if err != nil {
		return nil, fmt.Errorf("systemd does not tell of %s: %s", unit, said)
	}
	values := map[string]string{}
	for line := range strings.Lines(said) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		values[key] = value
	}
	return values, nil
}
