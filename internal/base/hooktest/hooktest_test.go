package hooktest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// recorder is a test whose failures are noted.
type recorder struct {
	testing.TB
	failed   bool
	cleanups []func()
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }

func TestRunFailsTheTestOnAnError(t *testing.T) {
	for _, want := range []error{nil, errors.New("broken")} {
		r := &recorder{TB: t}
		ended := false
		stop := Run(r, func(ctx context.Context) error { <-ctx.Done(); ended = true; return want })
		stop()
		if !ended || r.failed != (want != nil) {
			t.Errorf("%v: ended %v, failed %v", want, ended, r.failed)
		}
		for _, f := range r.cleanups {
			f() // a second stop does not wait again
		}
	}
}

func TestHookIsWrittenAsAPersonWould(t *testing.T) {
	home := ShortDir(t)
	dir := Hook(t, home, "guard", "events: [pre_tool_use]\n", "exit 2\n")
	info, err := os.Stat(filepath.Join(dir, "run.sh"))
	Must(t, err)
	if info.Mode().Perm() != 0o755 || dir != filepath.Join(home, "hooks", "guard") {
		t.Errorf("got %v in %s", info.Mode(), dir)
	}
	Until(t, "the hook is there", func() bool { _, err := os.Stat(filepath.Join(dir, "HOOK.yaml")); return err == nil })
}
