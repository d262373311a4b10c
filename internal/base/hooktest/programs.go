package hooktest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// builtPrograms is a variable with the folder of programs that are built already.
const builtPrograms = "HOOKTEST_PROGRAMS"

// built is the folder that Programs has made; "" when there is none.
var built string

// Programs returns the folder with hookd's programs, as `make build` builds them: the
// folder $HOOKTEST_PROGRAMS, else a folder that is made once for all tests of a package.
// TestMain removes it by RemovePrograms.
func Programs(t testing.TB) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatalf("build hookd's programs: %v", err)
	}
	return dir
}

// ProgramsInPath has the programs that Programs returns in PATH until the test ends.
func ProgramsInPath(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", Programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// RemovePrograms removes the programs that Programs has built.
func RemovePrograms() {
	if built != "" {
		os.RemoveAll(built)
	}
}

var programs = sync.OnceValues(func() (dir string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	if err := dependOn(root, "client", "cmd", "docs", "internal", "packaging", "sdk"); err != nil {
		return "", err
	}
	if dir := os.Getenv(builtPrograms); dir != "" {
		return dir, nil
	}
	if built, err = os.MkdirTemp("", "hookd programs"); err != nil { // a blank: paths have them
		return "", err
	}
	cmd := exec.Command("sh", "-ec", `go build -ldflags "./cmd/hookd-bridge=$(sh packaging/entry.sh)" -o "$0/" ./cmd/...`, built)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return built, nil
})

// moduleRoot returns the folder with go.mod, above that of the tests.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil && !exists(filepath.Join(dir, "go.mod")) {
		if dir == "/" {
			return "", fmt.Errorf("find go.mod: %w", fs.ErrNotExist)
		}
		dir = filepath.Dir(dir)
	}
	return dir, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// dependOn reads folders, with all below them: `go test` then knows that a result that it
// remembers depends on their files, as if the programs were part of the test.
func dependOn(root string, folders ...string) error {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // another test has just removed a folder of its own
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Serve runs `hookd serve`, the built program, on a home until the test ends or stop is
// called, which waits for its end. It has the test's environment without settings of
// hookd, and then env. An exit with an error, also an early one, fails the test. stop
// may be called more than once. The caller waits until the daemon is ready.
func Serve(t testing.TB, home string, env ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(filepath.Join(Programs(t), "hookd"), "serve")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HOOKD_") })
	cmd.Env = append(append(cmd.Env, "LIBREFANG_HOME="+home), env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	Must(t, cmd.Start())
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("hookd serve: %v\n%s", err, log.Bytes())
		}
	})
	t.Cleanup(stop)
	return stop
}
