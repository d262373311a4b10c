package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestDescriptors(t *testing.T) {
	// A descriptor without close-on-exec.
	leak, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	if err := unix.Dup3(leak, 60, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(60)
	script := `i=0; while [ $i -lt 100 ]; do [ -e /proc/self/fd/$i ] && echo $i; i=$((i+1)); done; true`
	eachRunner(t, func(t *testing.T, r *Runner) {
		if e := r.Run(t.Context(), shell(t, script)); all(e.Stdout) != "0\n1\n2\n" {
			t.Errorf("got descriptors %q, %+v, want 0, 1 and 2", all(e.Stdout), e)
		}
	})
}

func TestSignalsAreAtTheirDefaults(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		e := r.Run(t.Context(), Spec{Path: "/bin/cat", Args: []string{"/proc/self/status"}, Timeout: 1e11})
		found := 0
		for line := range strings.Lines(all(e.Stdout)) {
			key, value, _ := strings.Cut(line, ":")
			bits, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			switch key {
			case "SigBlk", "SigCgt", "ShdPnd":
				found++
				if bits != 0 {
					t.Errorf("got %s", line)
				}
			case "SigIgn":
				found++
				for _, s := range []syscall.Signal{unix.SIGPIPE, unix.SIGTERM, unix.SIGCHLD, unix.SIGUSR1, unix.SIGURG} {
					if bits&(1<<(s-1)) != 0 {
						t.Errorf("%v is ignored", s)
					}
				}
			}
		}
		if found != 4 {
			t.Errorf("got %d lines about signals of %q", found, all(e.Stdout))
		}
	})
}

// Go raises its own limit of open files; a hook gets the limit that hookd was started
// with.
func TestFileLimit(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Max < 512 {
		t.Skipf("no room to lower the limit: %+v, %v", now, err)
	}
	s := shell(t, `ulimit -S -n 256 && exec "$EXE"`)
	s.Env = append(s.Env, "EXE="+exe, helperVar+"=limit", "GORACE=atexit_sleep_ms=0")
	e := newRunner(t, Options{}).Run(t.Context(), s)
	if got := all(e.Stdout); e.Code != 0 || got != "256\n" {
		t.Errorf("got limit %q for a hook of a daemon with 256: %+v", got, e)
	}
}

func init() {
	helpers["limit"] = func([]string) int {
		var own unix.Rlimit
		unix.Getrlimit(unix.RLIMIT_NOFILE, &own)
		e := New(Options{}).Run(context.Background(), Spec{Path: "/bin/sh", Args: []string{"-c", "ulimit -S -n"}, Timeout: 1e11})
		os.Stdout.Write(e.Stdout.Head)
		if own.Cur <= 256 {
			return 1 // Go did not raise its own: then this shows nothing
		}
		return 0
	}
}

func TestNoexecMount(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOEXEC, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	path := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := newRunner(t, Options{}).Run(t.Context(), Spec{Path: path, Timeout: 1e11})
	if e.Err == nil || !strings.Contains(e.Err.Error(), "mounted noexec") || !strings.Contains(e.Err.Error(), "remount,exec "+dir) {
		t.Errorf("got %v, want the mount named", e.Err)
	}
}

func TestParseRow(t *testing.T) {
	for _, c := range []struct {
		stat string
		want row
		ok   bool
	}{
		{"7 (sh) S 3 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 1 2", row{pid: 7, ppid: 3, sid: 5, start: 4711}, true},
		{"7 (a) R 1 (b) ) T 3 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 1 2", row{pid: 7, ppid: 3, sid: 5, start: 4711, stopped: true}, true},
		{"7 (x) Z 3 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 1 2", row{pid: 7, ppid: 3, sid: 5, start: 4711, dead: true}, true},
		{"7 (x) Z 3", row{}, false},
		{"", row{}, false},
	} {
		if got, ok := parseRow(7, []byte(c.stat)); got != c.want || ok != c.ok {
			t.Errorf("%q: got %+v, %v, want %+v, %v", c.stat, got, ok, c.want, c.ok)
		}
	}
}

// A run can be killed at any moment: before its start, while it starts, and until its end.
func TestKilledAtAnyMoment(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		var runs sync.WaitGroup
		for worker := range 4 {
			runs.Go(func() {
				for i := range hooktest.Amount(10, 5) {
					if e, ok := killedAfter(t, r, time.Duration(4*i+worker)*100*time.Microsecond); !ok {
						t.Errorf("got %+v, want it killed or not started", e)
						return
					}
				}
			})
		}
		runs.Wait()
		hooktest.Until(t, "no process to be left", func() bool { return countChildren() == 0 })
	})
}

// killedAfter kills a run that long after its begin, and reports whether it ended as such
// a run may.
func killedAfter(t *testing.T, r *Runner, d time.Duration) (e Exit, ok bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := shell(t, "sleep 300 & echo ready; wait")
	s.Timeout = time.Minute
	stop := time.AfterFunc(d, cancel)
	defer stop.Stop()
	e = r.Run(ctx, s)
	if e.Err != nil {
		return e, errors.Is(e.Err, context.Canceled)
	}
	hooktest.Until(t, "all of its processes to be gone", func() bool { return len(survivors(t, mark(s))) == 0 })
	return e, e.Killed != "" && e.Code == -1 && !e.TimedOut
}
