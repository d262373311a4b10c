package service

import (
	"os/user"
	"path/filepath"

	"github.com/hookd/hookd/internal/base/system"
)

// System returns this machine for its system daemon: Install and Uninstall are of that.
// Only root may.
func System() (*Machine, error) {
	m, err := This()
	if err != nil {
		return nil, err
	}
	if m.uid != 0 {
		return nil, fail("type it behind sudo: `sudo hookd install --system`", "the system daemon is root's to install")
	}
	m.ofSystem = true
	return m, nil
}

// prepareSystem returns the steps that make the system daemon's user and folders.
func (m *Machine) prepareSystem() ([]Step, error) {
	here := system.Here()
	steps := []Step{{argv: []string{"install", "-d", "-m", "755", here.Folder, filepath.Join(here.Folder, "hooks")}}}
	_, err := user.Lookup(system.User)
	switch {
	case err == nil:
	case m.goos == "darwin":
		return nil, fail("type `sudo sysadminctl -addUser "+system.User+" -home /var/empty -shell /usr/bin/false`, "+
			"then `sudo hookd install --system`", "the system daemon has a user of its own, and there is none: %w", err)
	default:
		steps = append(steps, Step{argv: []string{
			"useradd", "--system", "--user-group", "--no-create-home", "--home-dir", here.State,
			"--shell", "/usr/sbin/nologin", system.User,
		}})
	}
	return steps, nil
}

// firstSettings is the system daemon's settings file, where there is none.
func firstSettings() []Change {
	path := system.Here().Settings()
	if exists(path) {
		return nil
	}
	return []Change{{Path: path, State: "new", Text: systemSettings, mode: 0o644}}
}

const systemSettings = `# Settings of the system daemon, see docs/reference/system.md.
# While this file is there, agents ask that daemon first.

# true: an agent's calls are denied where the daemon does not answer.
required: false
`

// systemNotes name the steps to do once the system daemon runs. status and log are commands.
func systemNotes(status, log string) []string {
	return []string{
		"the system daemon runs; see it with `sudo hookd --system status`, `sudo " + status + "` and `sudo " + log + "`",
		"add a guard with `sudo hookd --system add gallery/command-guard`",
		"connect agents of all users with `sudo hookd connect AGENT --managed`; have its silence deny with `required: true` in " +
			system.Here().Settings(),
	}
}
