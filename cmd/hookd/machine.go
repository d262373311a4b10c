package main

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

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/trust"
	"github.com/hookd/hookd/packaging"
)

// machine is where a service is installed.
type machine struct {
	system string // as runtime.GOOS
	home   string // the user's
	uid    int
	exe    string // this program, as it was started

	// run runs a command and returns what it said.
	run func(ctx context.Context, argv []string) (string, error)
}

func thisMachine() (*machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fail(exitFailed, "type `export HOME=/your/home`, then `hookd install`", "find the home directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fail(exitFailed, "type its whole path, as in `/usr/local/bin/hookd install`", "find this program: %w", err)
	}
	return &machine{system: runtime.GOOS, home: home, uid: os.Getuid(), exe: exe, run: runCommand}, nil
}

func runCommand(ctx context.Context, argv []string) (string, error) {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// step is one command.
type step struct {
	argv  []string
	may   bool // fail, and nobody minds
	again bool // is tried again for a while: launchd takes its time to forget a job
}

// String is the command as it is typed.
func (s step) String() string {
	var words []string
	for _, w := range s.argv {
		if flag := strings.TrimPrefix(w, "--"); flag != w && trust.Quote(flag) == flag {
			words = append(words, w)
			continue
		}
		words = append(words, trust.Quote(w))
	}
	return strings.Join(words, " ")
}

// MarshalJSON implements json.Marshaler.
func (s step) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// do runs steps until one fails.
func (m *machine) do(ctx context.Context, steps []step) error {
	for _, s := range steps {
		said, err := m.run(ctx, s.argv)
		for try := 0; s.again && err != nil && try < 20 && ctx.Err() == nil; try++ {
			pause(ctx, 250*time.Millisecond)
			said, err = m.run(ctx, s.argv)
		}
		if err != nil && !s.may {
			return fmt.Errorf("%s: %w: %s", s, err, said)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// service is hookd as this machine's service manager is to run it.
func (m *machine) service(cmd *cobra.Command, hardened bool) (s packaging.Service, notes []string, err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return s, nil, err
	}
	s.Socket, s.Hardened, s.Log = cfg.Socket, hardened, filepath.Join(m.home, "Library", "Logs", "hookd", "hookd.log")
	if s.Program, err = m.program(); err != nil {
		return s, nil, err
	}
	path, left := m.path(os.Getenv("PATH"))
	if path == "" {
		return s, nil, fail(exitFailed, "type `export PATH=/usr/local/bin:/usr/bin:/bin`, then `hookd install`", "PATH has no folder that a service can use")
	}
	for _, l := range left {
		notes = append(notes, "left out of the service's PATH: "+l)
	}
	s.Variables = append([]packaging.Variable{{Name: "PATH", Value: path}}, settingVariables(cmd, cfg)...)
	return s, notes, nil
}

// settingVariables are the settings that do not stand in hookd.yaml: the
// service would not have them.
func settingVariables(cmd *cobra.Command, cfg config.Config) (list []packaging.Variable) {
	if os.Getenv("LIBREFANG_HOME") != "" {
		list = append(list, packaging.Variable{Name: "LIBREFANG_HOME", Value: cfg.Home})
	}
	flags := given(cmd)
	for _, k := range config.Keys() {
		value, set := flags[k.Name]
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
// links resolved, but for a package manager's folder that has the version in
// it (Homebrew, Nix), which goes away with the next one: there the link in PATH.
func (m *machine) program() (string, error) {
	path, err := filepath.EvalSymlinks(m.exe)
	if err != nil {
		return "", fail(exitFailed, "install it anew, then type `hookd install`", "find this program: %w", err)
	}
	if strings.Contains(path, "/Cellar/") || strings.HasPrefix(path, "/nix/store/") {
		if link, err := exec.LookPath("hookd"); err == nil && filepath.IsAbs(link) && sameProgram(link, path) {
			path = link
		}
	}
	if m.temporary(path) {
		return "", fail(exitFailed, "put it in a folder that stays, with `make install PREFIX=\"$HOME/.local\"`, then type `~/.local/bin/hookd install`", "hookd runs from %s, a temporary folder", filepath.Dir(path))
	}
	var refusal *trust.Refusal
	if err := trust.New().Check(path); errors.As(err, &refusal) {
		return "", fail(exitFailed, "type `"+refusal.Do+"`, then `hookd install`", "others could replace hookd: %s %s", refusal.Path, refusal.Fact)
	}
	return path, nil
}

func sameProgram(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// temporary reports whether path is in a folder that is emptied now and then.
// What is under the home is as lasting as the home itself.
func (m *machine) temporary(path string) bool {
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

// path returns the folders of a PATH that a service can use, and what is left
// out with the reason. A relative or missing one is left out in silence.
func (m *machine) path(value string) (path string, left []string) {
	var keep []string
	for _, dir := range filepath.SplitList(value) {
		dir = filepath.Clean(dir)
		info, err := os.Stat(dir)
		switch {
		case !filepath.IsAbs(dir) || err != nil || !info.IsDir() || slices.Contains(keep, dir):
		case m.temporary(resolved(dir)):
			left = append(left, dir+" is temporary")
		case info.Mode().Perm()&0o002 != 0:
			left = append(left, dir+" is writable by everybody")
		default:
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, ":"), left
}
