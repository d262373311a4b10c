package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestMain(m *testing.M) {
	// Under the race detector each program would sleep a second before it exits.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	testscript.Main(m, map[string]func(){"hookd": main, "note-events": noteEvents})
}

// TestScripts runs testdata/script: one script or more for each command, with
// its failures and exit codes.
func TestScripts(t *testing.T) {
	path := pathWithout(t, "hookd-bridge", "hookd-fleet", "hookd-fleet-server")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", path)
			return setup(env)
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitready": waitReady,
			"until":     until,
			"exits":     exits,
			"signal":    signalDaemon,
			"mute":      mute,
			"terminal":  onTerminal,
			"gitserver": gitServer,

			"buildprogram": buildProgram,
			"killafter":    killAfter,
		},
	})
}

// pathWithout returns PATH without these programs: scripts test their absence, also on a machine with hookd
// installed. Links to all else in a folder of PATH take its place until the test ends.
func pathWithout(t testing.TB, programs ...string) string {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PATH"))
	for i, folder := range folders {
		if !slices.ContainsFunc(programs, func(name string) bool {
			_, err := os.Lstat(filepath.Join(folder, name))
			return err == nil
		}) {
			continue
		}
		entries, err := os.ReadDir(folder)
		hooktest.Must(t, err)
		folders[i] = t.TempDir()
		for _, e := range entries {
			if !slices.Contains(programs, e.Name()) {
				hooktest.Must(t, os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(folders[i], e.Name())))
			}
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

// setup gives each script a home whose path is short enough for a socket. The
// hooks stand in the script itself, under hooks/.
func setup(env *testscript.Env) error {
	home, err := os.MkdirTemp("/tmp", "hookd")
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(home) })
	env.Setenv("LIBREFANG_HOME", home)
	env.Setenv("HOOKD_HOOKS_DIR", filepath.Join(env.WorkDir, "hooks"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("TERM", "xterm")
	env.Setenv("GORACE", os.Getenv("GORACE"))
	for name, value := range goSettings() {
		env.Setenv(name, value)
	}
	return nil
}

// goSettings let `go build` in a script find the packages that are compiled already: in their folder, and
// compiled in the same way.
var goSettings = sync.OnceValue(func() (settings map[string]string) {
	out, _ := exec.Command("go", "env", "-json", "CGO_ENABLED", "GOCACHE", "GOFLAGS").Output()
	_ = json.Unmarshal(out, &settings) // no Go: the scripts that need it say so
	return settings
})

// condition reports whether a line of a script runs that begins with [all], see hooktest.All.
func condition(name string) (bool, error) {
	if name != "all" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return hooktest.All(), nil
}

// patience is how long a script waits for something that must come.
const patience = 60 * time.Second

// poll calls try until it holds.
func poll(ts *testscript.TestScript, what string, try func() bool) {
	if !hooktest.Poll(patience, try) {
		ts.Fatalf("%s did not come within %s", what, patience)
	}
}

// waitready waits for the daemon.
func waitReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: waitready")
	}
	poll(ts, "the daemon", func() bool { return strings.HasPrefix(output(ts, "hookd", "status"), "hookd        ready") })
}

// until REGEXP COMMAND… runs a command until its stdout matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND…")
	}
	re := regexp.MustCompile("(?m)" + args[0])
	poll(ts, args[0], func() bool { return re.MatchString(output(ts, args[1], args[2:]...)) })
}

// output runs a command outside of the script's log.
func output(ts *testscript.TestScript, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+ts.Getenv("LIBREFANG_HOME"), "HOOKD_HOOKS_DIR="+ts.Getenv("HOOKD_HOOKS_DIR"))
	out, _ := cmd.Output() // a failure shows as output that does not match
	return string(out)
}

// exits CODE COMMAND… checks a command's exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// signal NAME sends a signal to the daemon.
func signalDaemon(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}
	if neg || len(args) != 1 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal HUP|TERM")
	}
	var status struct{ PID int }
	ts.Check(json.Unmarshal([]byte(output(ts, "hookd", "status", "-o", "json")), &status))
	ts.Check(syscall.Kill(status.PID, signals[args[0]]))
}

// terminal OUT KEYS COMMAND… runs a command to its end on a terminal of its own. It types the
// text of the file KEYS, - for nothing. All that the terminal has shown goes to the file OUT.
// The script's own ttyout may lose the end.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: terminal OUT KEYS COMMAND…")
	}
	var keys []byte
	if args[1] != "-" {
		keys = []byte(ts.ReadFile(args[1]))
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "HOOKD_HOOKS_DIR", "LIBREFANG_HOME", "NO_COLOR", "PATH", "TERM"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	wrote, err := hooktest.OnTerminal(cmd, keys)
	ts.Check(errors.Join(err, os.WriteFile(ts.MkAbs(args[0]), wrote, 0o600)))
}

// mute PATH listens on a socket and never answers.
func mute(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mute PATH")
	}
	l, err := net.Listen("unix", args[0])
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}

// gitserver serves the repositories in the script's folder over HTTP, at GITURL.
// git in the script has none of the user's configuration.
func gitServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: gitserver")
	}
	handler, err := hooktest.GitHandler(ts.MkAbs("."))
	ts.Check(err)
	s := httptest.NewServer(handler)
	ts.Defer(s.Close)
	ts.Setenv("GITURL", s.URL)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		ts.Setenv("GIT_"+who+"_NAME", "a")
		ts.Setenv("GIT_"+who+"_EMAIL", "a@example.org")
	}
}

// buildprogram PATH builds the program of that name.
func buildProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: buildprogram PATH")
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", ts.MkAbs(args[0]), "../"+filepath.Base(args[0])) // in the package's folder
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("build: %v\n%s", err, out)
	}
}

// killafter ends the daemon that a script's command has left in the background,
// when the script ends.
func killAfter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: killafter")
	}
	ts.Defer(func() {
		var status struct{ PID int }
		if json.Unmarshal([]byte(output(ts, "hookd", "status", "-o", "json")), &status) == nil && status.PID > 0 {
			syscall.Kill(status.PID, syscall.SIGKILL)
		}
	})
}

var long = flag.Bool("long", false, "load hookd as much as its promises about memory and kills say")

// amount is how much a test does: the first number with -long.
func amount(most, short int) int {
	if *long {
		return most
	}
	return short
}
