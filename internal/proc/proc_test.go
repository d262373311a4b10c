package proc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/spawn"
)

// The test binary is its own hook: with helperVar set it acts as that variable says.
const helperVar = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		help, ok := helpers[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no helper", name)
			os.Exit(99)
		}
		os.Exit(help(os.Args[1:]))
	}
	os.Exit(m.Run())
}

var helpers = map[string]func(args []string) int{
	"echo": func(args []string) int { // args, environment, directory, stdin
		dir, _ := os.Getwd()
		fmt.Printf("args %q\nenv %q\ndir %s\n", args, os.Environ(), dir)
		n, err := io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintf(os.Stderr, "%d %v", n, err)
		return 0
	},
	"write": func(args []string) int { // N bytes to stdout, as pattern has them
		n, _ := strconv.Atoi(args[0])
		os.Stdout.Write(pattern(n))
		return 0
	},
	"endless": func([]string) int {
		buf := bytes.Repeat([]byte("x"), 32<<10)
		for {
			os.Stdout.Write(buf)
			os.Stderr.Write(buf)
		}
	},
	"exit": func(args []string) int {
		code, _ := strconv.Atoi(args[0])
		return code
	},
}

// pattern is n bytes in which no two places look alike.
func pattern(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%07d\n", i)
	}
	return b.Bytes()[:n]
}

func helper(t testing.TB, name string, args ...string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Path: exe, Args: args, Dir: t.TempDir(), Timeout: time.Minute,
		Env: []string{helperVar + "=" + name, "GORACE=atexit_sleep_ms=0"},
	}
}

// shell runs text in /bin/sh, with $MARK and $DIR set.
func shell(t testing.TB, text string) Spec {
	dir := t.TempDir()
	return Spec{
		Path: "/bin/sh", Args: []string{"-c", text}, Dir: dir, Timeout: time.Minute,
		Env: []string{"PATH=" + os.Getenv("PATH"), "DIR=" + dir, "MARK=" + filepath.Base(filepath.Dir(dir)) + strconv.FormatInt(time.Now().UnixNano(), 36)},
	}
}

// mark returns the variable that all processes of s have in common.
func mark(s Spec) string { return s.Env[2] }

// eachRunner runs f with every way of holding processes that there is here.
func eachRunner(t *testing.T, f func(t *testing.T, r *Runner)) {
	for name, options := range kinds() {
		t.Run(name, func(t *testing.T) { f(t, newRunner(t, options)) })
	}
}

// allRunners is eachRunner for tests that mostly wait: all at once.
func allRunners(t *testing.T, f func(t *testing.T, r *Runner)) {
	for name, options := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, newRunner(t, options))
		})
	}
}

// kinds are the ways to start and to end processes.
func kinds() map[string]Options {
	return map[string]Options{
		"group":   {},
		"cgroup":  {Cgroup: true},
		"fork":    {Cgroup: true, spawn: spawn.Fork},
		"nopidfd": {spawn: forkWithoutPidfd},
	}
}

// forkWithoutPidfd starts a process as before Linux 5.3.
func forkWithoutPidfd(ctx context.Context, s *spawn.Spec) (spawn.Process, error) {
	p, err := spawn.Fork(ctx, s)
	closeAll([]int{p.PIDFD})
	p.PIDFD = -1
	return p, err
}

func newRunner(t testing.TB, o Options) *Runner {
	t.Helper()
	r := New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if o.Cgroup && r.Cgroup() == "" {
		t.Skip("no writable cgroup v2 here")
	}
	return r
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func all(o Output) string { return string(o.Head) + string(o.Tail) }

func TestExitFacts(t *testing.T) {
	tests := []struct {
		name, script string
		code         int
		signal       string
		out, err     string
	}{
		{"ok", "echo hi; echo ho >&2", 0, "", "hi\n", "ho\n"},
		{"code", "echo no >&2; exit 2", 2, "", "", "no\n"},
		{"signal", "kill -TERM $$", -1, "SIGTERM", "", ""},
		{"closes-both", "exec >&- 2>&-; sleep 0.05; exit 3", 3, "", "", ""},
		{"closes-stdin", "exec <&-; sleep 0.01; echo x", 0, "", "x\n", ""},
	}
	eachRunner(t, func(t *testing.T, r *Runner) {
		for _, c := range tests {
			t.Run(c.name, func(t *testing.T) {
				var started []Process
				s := shell(t, c.script)
				s.Started = func(p Process) { started = append(started, p) }
				e := r.Run(t.Context(), s)
				if e.Err != nil || e.Code != c.code || e.Signal != c.signal || all(e.Stdout) != c.out || all(e.Stderr) != c.err {
					t.Errorf("got %+v, want code %d signal %q stdout %q stderr %q", e, c.code, c.signal, c.out, c.err)
				}
				if e.TimedOut || e.Terminated || e.Killed != "" || e.Left != 0 || e.Late != nil || e.Duration <= 0 {
					t.Errorf("got %+v, want an end of its own", e)
				}
				if len(started) != 1 || started[0].PID != e.PID || started[0].Start != e.Start || (started[0].Cgroup != "") != (r.Cgroup() != "") {
					t.Errorf("started with %+v, want once with pid %d", started, e.PID)
				}
			})
		}
	})
}

func TestWhatTheProcessIsGiven(t *testing.T) {
	s := helper(t, "echo", "one", "", "two words", "--x")
	s.Stdin = [][]byte{[]byte("{\"a\":1}\n")}
	e := newRunner(t, Options{}).Run(t.Context(), s)
	dir, _ := filepath.EvalSymlinks(s.Dir)
	want := fmt.Sprintf("args %q\nenv %q\ndir %s\n{\"a\":1}\n", s.Args, s.Env, dir)
	if got := all(e.Stdout); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEmptyEnvironment(t *testing.T) {
	e := newRunner(t, Options{}).Run(t.Context(), Spec{Path: "/usr/bin/env", Timeout: time.Minute})
	if e.Err != nil || e.Code != 0 || e.Stdout.Bytes != 0 {
		t.Errorf("got %+v, want no variable at all", e)
	}
}

func TestStdin(t *testing.T) {
	big := pattern(5 << 20)
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, "cat")
		s.Stdin, s.Whole = [][]byte{big}, len(big)
		e := r.Run(t.Context(), s)
		if e.Code != 0 || !bytes.Equal(e.Whole, big) || e.WholeExceeded {
			t.Errorf("got %d bytes back, exceeded %v, want all of %d", len(e.Whole), e.WholeExceeded, len(big))
		}
		s = shell(t, "echo did not read")
		s.Stdin = [][]byte{big}
		if e := r.Run(t.Context(), s); e.Code != 0 || all(e.Stdout) != "did not read\n" {
			t.Errorf("got %+v, want a process that need not read", e)
		}
		for _, n := range []int{1, 4095, 4096, 4097, 70_000} { // about the sizes of pipes
			s = shell(t, "cat")
			s.Stdin = [][]byte{big[:n/3], big[n/3 : n]}
			if e := r.Run(t.Context(), s); e.Code != 0 || all(e.Stdout) != all(OutputOf(big[:n])) || e.Stdout.Bytes != int64(n) {
				t.Errorf("got %d bytes back, want all of %d", e.Stdout.Bytes, n)
			}
		}
		s = shell(t, "cat; echo end")
		if e := r.Run(t.Context(), s); all(e.Stdout) != "end\n" {
			t.Errorf("got %+v, want an empty stdin", e)
		}
	})
}

func TestTempStdin(t *testing.T) {
	fd, link, err := tempStdin([][]byte{[]byte("hel"), []byte("lo")})
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v, want the whole text from the beginning", got, err)
	}
	if exists(strings.TrimSuffix(link, " (deleted)")) {
		t.Errorf("%s is still there", link)
	}
}

// Without a descriptor that shows when the process has ended, as where a
// tracer holds it, it is asked for.
func TestEndIsSeenWithoutADescriptor(t *testing.T) {
	r := newRunner(t, Options{})
	s := shell(t, "echo hi; exit 4")
	p, err := r.start(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	closeAll([]int{p.exited})
	p.exited, p.unwaited = -1, true
	p.watch(t.Context())
	if e := p.finish(); e.Code != 4 || all(e.Stdout) != "hi\n" {
		t.Errorf("got %+v, want code 4", e)
	}
}

func TestContextEndedBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := shell(t, "touch ran")
	e := newRunner(t, Options{}).Run(ctx, s)
	if e.Err == nil || e.Code != -1 || exists(filepath.Join(s.Dir, "ran")) {
		t.Errorf("got %+v, want nothing started", e)
	}
}

func TestConcurrentRuns(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		done := make(chan error)
		for i := range 8 {
			go func() {
				var err error
				for j := range hooktest.Amount(25, 8) {
					want := fmt.Sprintf("%d %d\n", i, j)
					e := r.Run(context.Background(), Spec{
						Path: "/bin/sh", Args: []string{"-c", "cat"}, Stdin: [][]byte{[]byte(want)}, Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: time.Minute,
					})
					if e.Err != nil || e.Code != 0 || all(e.Stdout) != want {
						err = fmt.Errorf("run %d of %d: got %+v, want %q", j, i, e, want)
					}
				}
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	record := filepath.Join(b.TempDir(), "runs")
	for _, o := range []Options{{}, {Journal: record}, {Cgroup: true}, {Cgroup: true, Journal: record}} {
		b.Run(fmt.Sprintf("cgroup=%v,record=%v", o.Cgroup, o.Journal != ""), func(b *testing.B) {
			r := newRunner(b, o)
			s := Spec{Path: "/bin/true", Stdin: [][]byte{pattern(300)}, Timeout: 5 * time.Second}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if e := r.Run(context.Background(), s); e.Err != nil || e.Code != 0 {
						b.Errorf("got %+v", e)
						return
					}
				}
			})
		})
	}
}
