// Package hooktest is the kit of hookd's tests: folders whose paths a socket can
// have, hooks in them, something that runs until the test ends, and a wait for a
// condition. Tests alone import it.
//
// It promises: the files that it makes are removed when the test ends; the programs
// that it runs have ended by then, and an error of such a program fails the test;
// nothing waits for a fixed time. A test that needs a thing this machine lacks is
// skipped, by the name SKIP-TOOL. It imports no package of hookd, so that every
// package's own tests can use it.
package hooktest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Tests collect garbage as seldom as hookd's programs do. GOGC is for compilers: make sets it.
func init() {
	os.Unsetenv("GOGC")
	debug.SetGCPercent(400)
}

// Patience is how long a test waits for an event that must come: a busy machine may need long.
const Patience = 2 * time.Minute

// OtherUser is the number of a second user; no account is needed.
const OtherUser = 65534

// Until waits until cond holds, and fails the test when it never does.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !Poll(Patience, cond) {
		t.Fatalf("waited %s in vain until %s", Patience, what)
	}
}

// Poll waits until cond holds, and reports whether it did in time. It calls a slow condition, such as a start of a
// program, less often, and any condition less often after a long wait: waiting tests leave the processors to others.
func Poll(patience time.Duration, cond func() bool) bool {
	start := time.Now()
	for deadline := time.After(patience); ; {
		began := time.Now()
		if cond() {
			return true
		}
		select {
		case <-time.After(min(max(2*time.Millisecond, 4*time.Since(began), began.Sub(start)/8), 100*time.Millisecond)):
		case <-deadline:
			return false
		}
	}
}

// Run runs something, a daemon or a server, until the test ends or stop is
// called, which waits for its end. stop may be called more than once.
func Run(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// ShortDir makes a folder whose paths are short enough for a socket.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hookd")
	Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// HomeDir makes a folder outside of the temporary ones, which boxes have their own of: in the user's home, else in the
// working directory. It is no folder of the tree where that can be avoided: other tests read the tree meanwhile.
func HomeDir(t testing.TB) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, base := range []string{home, "."} {
		base, err := filepath.Abs(base)
		if err == nil {
			base, err = filepath.EvalSymlinks(base)
		}
		isTemporary := func(dir string) bool { return strings.HasPrefix(base+"/", dir) }
		if err != nil || slices.ContainsFunc([]string{"/tmp/", "/var/tmp/", "/dev/shm/"}, isTemporary) {
			continue
		}
		if dir, err := os.MkdirTemp(base, "scratch-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	t.Skip("neither the home nor the working directory can be written outside of /tmp")
	return ""
}

// Hook makes hooks/NAME in home, which runs lines of shell as run.sh. yaml has
// the other fields. It returns the hook's folder. Each file is replaced at once, and only where its text changes: a
// daemon that reloads in between sees whole files, and a hook with another HOOK.yaml changes once.
func Hook(t testing.TB, home, name, yaml, script string) string {
	t.Helper()
	dir := filepath.Join(home, "hooks", name)
	Must(t, os.MkdirAll(dir, 0o755))
	replace(t, filepath.Join(dir, "run.sh"), filepath.Join(home, name+".next"), "#!/bin/sh\n"+script, 0o755)
	yaml = "name: " + name + "\ncommand: ./run.sh\n" + yaml
	replace(t, filepath.Join(dir, "HOOK.yaml"), filepath.Join(home, name+".next"), yaml, 0o644)
	return dir
}

// replace gives path another text by a rename of next: the file may be executed just now, and cannot be written then.
func replace(t testing.TB, path, next, text string, mode os.FileMode) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return
	}
	Write(t, next, text, mode)
	Must(t, os.Rename(next, path))
}

// Write writes a file with exactly that mode, and its folder.
func Write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Must(t, os.WriteFile(path, []byte(text), mode))
	Must(t, os.Chmod(path, mode))
}

// Must fails the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// All reports whether tests load the machine as much as the promises say: `make test-all` has them do so, and CI
// runs that. Else they do as much as shows the behaviour.
func All() bool { return os.Getenv("HOOKTEST_ALL") != "" && !testing.Short() }

// Amount is how much a test does that repeats a behaviour: most where All holds, else few.
func Amount(most, few int) int {
	if All() {
		return most
	}
	return few
}

// Long skips a test that loads the machine for long, unless All does.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("it loads the machine for long: make test-all runs it")
	}
}

// Outside skips, in a short run, a test of other programs' work. Short runs are for the race detector, which watches
// the test program alone.
func Outside(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("other programs do the work: make test runs it")
	}
}

// NeedRoot skips a test that makes other users' files.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIP-TOOL root: only root can make files of another user")
	}
}

// NeedTool skips a test where a program is missing.
func NeedTool(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP-TOOL %s: not installed", tool)
		}
	}
}
