package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/packaging"
)

// Machine is where a service is installed.
type Machine struct {
	goos string // as runtime.GOOS
	home string // the user's
	uid  int
	exe  string // this program, as it was started

	ofSystem bool   // the service is the system daemon, for all users
	root     string // before the folders of that service; "" but in tests

	// run runs a command and returns its output.
	run func(ctx context.Context, argv []string) (string, error)
}

// This returns the machine and user that this program runs for.
func This() (*Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fail("type `export HOME=/your/home`, then `hookd install`", "find the home directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fail("type its whole path, as in `/usr/local/bin/hookd install`", "find this program: %w", err)
	}
	return &Machine{goos: runtime.GOOS, home: home, uid: os.Getuid(), exe: exe, run: runCommand}, nil
}

func runCommand(ctx context.Context, argv []string) (string, error) {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Step is one command.
type Step struct {
	argv    []string
	mayFail bool // an error is ignored
	retry   bool // until it succeeds, for a while: launchd removes a job some time after the command
}

// String is the command as it is typed.
func (s Step) String() string {
	var words []string
	for _, w := range s.argv {
		if flag := strings.TrimLeft(w, "-"); flag != w && escape.Quote(flag) == flag {
			words = append(words, w)
			continue
		}
		words = append(words, escape.Quote(w))
	}
	return strings.Join(words, " ")
}

// MarshalJSON implements json.Marshaler.
func (s Step) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// do runs steps until one fails.
func (m *Machine) do(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		said, err := m.run(ctx, s.argv)
		for try := 0; s.retry && err != nil && try < 20 && ctx.Err() == nil; try++ {
			pause.For(250*time.Millisecond, ctx.Done())
			said, err = m.run(ctx, s.argv)
		}
		if err != nil && !s.mayFail {
			return fmt.Errorf("%s: %w: %s", s, err, said)
		}
	}
	return nil
}

// Options say how the service is to run.
type Options struct {
	Config   config.Config
	Given    map[string]string // settings of the command line, by name
	Path     string            // PATH of the user's shell
	Hardened bool              // systemd only: hookd and its hooks cannot gain rights
}

// service is how this machine's service manager runs hookd.
func (m *Machine) service(o Options) (s packaging.Service, notes []string, err error) {
	s.Socket, s.Hardened, s.Log = o.Config.Socket, o.Hardened,
		filepath.Join(m.home, "Library", "Logs", "hookd", "hookd.log")
	if s.Program, err = m.program(); err != nil {
		return s, nil, err
	}
	path, left := m.path(o.Path)
	if path == "" {
		return s, nil, fail("type `export PATH=/usr/local/bin:/usr/bin:/bin`, then `hookd install`", "PATH has no folder that a service can use")
	}
	for _, l := range left {
		notes = append(notes, "left out of the service's PATH: "+l)
	}
	s.Variables = append([]packaging.Variable{{Name: "PATH", Value: path}}, settingVariables(o)...)
	return s, notes, nil
}

// settingVariables are the settings that are not in hookd.yaml: the service would not
// have them.
func settingVariables(o Options) (list []packaging.Variable) {
	if os.Getenv("LIBREFANG_HOME") != "" {
		list = append(list, packaging.Variable{Name: "LIBREFANG_HOME", Value: o.Config.Home})
	}
	for _, k := range config.Keys() {
		value, set := o.Given[k.Name]
		if !set {
			value = os.Getenv(k.Env)
		}
		if value != "" {
			list = append(list, packaging.Variable{Name: k.Env, Value: value})
		}
	}
	return list
}

// program returns the path that the service starts: this program with all
// links resolved, except in a package manager's folder that has the version in
// it (Homebrew, Nix), which goes away with the next one: there the link in PATH.
func (m *Machine) program() (string, error) {
	path, err := filepath.EvalSymlinks(m.exe)
	if err != nil {
		return "", fail("install it again, then type `hookd install`", "find this program: %w", err)
	}
	if strings.Contains(path, "/Cellar/") || strings.HasPrefix(path, "/nix/store/") {
		if link, err := exec.LookPath("hookd"); err == nil && filepath.IsAbs(link) && sameProgram(link, path) {
			path = link
		}
	}
	if m.temporary(path) {
		return "", fail("put it in a folder that stays, with `make install PREFIX=\"$HOME/.local\"`, then type `~/.local/bin/hookd install`", "hookd runs from %s, a temporary folder", filepath.Dir(path))
	}
	var refusal *trust.Refusal
	if err := trust.New().Check(path); errors.As(err, &refusal) {
		return "", fail("type `"+refusal.Do+"`, then `hookd install`", "others could replace hookd: %s %s",
			refusal.Path, refusal.Fact)
	}
	return path, nil
}

func sameProgram(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// temporary reports whether path is in a folder that is emptied now and then.
// A path under the home is as lasting as the home itself.
func (m *Machine) temporary(path string) bool {
	home := resolved(m.home)
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", "/var/folders"} {
		dir = resolved(dir)
		if below(path, dir) && (!below(home, dir) || !below(path, home)) {
			return true
		}
	}
	return false
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func below(path, dir string) bool {
	return strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
}

// others returns how other users could put files into a folder, or replace the folder;
// nil if they cannot.
func others(dir string) *trust.Refusal {
	if bad := trust.New().Seal(trust.Files{Folder: dir}).Refusals(); len(bad) > 0 {
		return &bad[0]
	}
	return nil
}

// path returns the folders of a PATH that a service can use, and those left out with
// the reason. Relative and missing ones are left out without one.
func (m *Machine) path(value string) (path string, left []string) {
	var keep []string
	for _, dir := range filepath.SplitList(value) {
		dir = filepath.Clean(dir)
		info, err := os.Stat(dir)
		switch {
		case !filepath.IsAbs(dir) || err != nil || !info.IsDir() || slices.Contains(keep, dir):
		case m.temporary(resolved(dir)):
			left = append(left, dir+" is temporary")
		case others(dir) != nil:
			r := others(dir)
			left = append(left, fmt.Sprintf("%s: %s %s; type `%s`, then `hookd install`", dir, r.Path, r.Fact, r.Do))
		default:
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, ":"), left
}
