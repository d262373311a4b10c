package proc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestCgroupIsFoundFromAPid(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	s := shell(t, "setsid -f sh -c 'while [ ! -e go ] && [ -d \"$DIR\" ]; do sleep 0.01; done'")
	var folder string
	s.Started = func(p Process) {
		folder = p.Cgroup
		if filepath.Dir(folder) != r.Cgroup() {
			t.Errorf("got cgroup %q, want one below %q", folder, r.Cgroup())
		}
	}
	e := r.Run(t.Context(), s)
	child := 0
	hooktest.Until(t, "the child in its session", func() bool {
		pids := survivors(t, mark(s))
		if len(pids) == 1 {
			child = pids[0]
		}
		sid, _, ok := Session(child)
		return ok && sid == child
	})
	if got := r.CgroupOf(child); got != folder {
		t.Errorf("got cgroup %q of a child in a session of its own, want %q", got, folder)
	}
	if sid, _, _ := Session(child); sid == e.PID {
		t.Error("the child is in the run's session: this shows nothing")
	}
	for _, pid := range []int{os.Getpid(), 1, -1, 0} {
		if got := r.CgroupOf(pid); got != "" {
			t.Errorf("got cgroup %q of %d, which is no hook", got, pid)
		}
	}
	if got := New(Options{}).CgroupOf(child); got != "" {
		t.Errorf("got %q without cgroups", got)
	}
	// While the child lives no other run gets its folder, and nothing removes it.
	for range 10 {
		n := shell(t, ":")
		n.Started = func(p Process) {
			if p.Cgroup == folder {
				t.Error("the folder of a living background child was used again")
			}
		}
		r.Run(t.Context(), n)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the child to end", func() bool { return len(survivors(t, mark(s))) == 0 })
}

func TestCgroupsAreUsedAgain(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	for range 200 {
		if e := r.Run(t.Context(), Spec{Path: "/bin/true", Timeout: time.Minute}); e.Err != nil || e.Code != 0 {
			t.Fatalf("got %+v", e)
		}
	}
	if got, _ := filepath.Glob(r.Cgroup() + "/run-*"); len(got) > 2 {
		t.Errorf("got %d folders after 200 runs one by one, want them used again", len(got))
	}
}

// A kernel kills whatever starts in a cgroup that was killed before.
func TestCgroupIsNotUsedAfterAKill(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		s := shell(t, "exec sleep 300")
		s.Started = func(Process) { cancel() }
		if e := r.Run(ctx, s); e.Killed != "cgroup" || e.Left != 0 {
			t.Fatalf("got %+v, want a kill", e)
		}
		if e := r.Run(t.Context(), shell(t, "echo fine")); e.Code != 0 || all(e.Stdout) != "fine\n" {
			t.Fatalf("got %+v right after a kill", e)
		}
	}
	if got, _ := filepath.Glob(r.Cgroup() + "/run-*"); len(got) > 3 {
		t.Errorf("got %d folders, want the killed ones removed", len(got))
	}
}

func TestFrozenCgroupIsNotUsedAgain(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	s := shell(t, ":")
	s.Started = func(p Process) {
		if err := os.WriteFile(filepath.Join(p.Cgroup, "cgroup.freeze"), []byte("1"), 0); err != nil {
			t.Errorf("freeze: %v", err)
		}
	}
	s.Timeout = time.Second
	r.Run(t.Context(), s) // killed, or over before it froze
	if e := r.Run(t.Context(), shell(t, "echo fine")); all(e.Stdout) != "fine\n" {
		t.Errorf("got %+v after a hook that froze its cgroup", e)
	}
}

func TestCloseRemovesFolders(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	s := shell(t, "(while [ ! -e go ] && [ -d \"$DIR\" ]; do sleep 0.01; done) & true")
	folder := make(chan string, 1)
	s.Started = func(p Process) { folder <- p.Cgroup }
	r.Run(t.Context(), s)
	r.Run(t.Context(), shell(t, ":"))
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	busy := <-folder
	if got, _ := filepath.Glob(r.Cgroup() + "/run-*"); len(got) != 1 || got[0] != busy {
		t.Errorf("got %v left, want the one with a background child, %s", got, busy)
	}
	if e := r.Run(t.Context(), shell(t, "echo still")); all(e.Stdout) != "still\n" {
		t.Errorf("got %+v after Close, want a run without a cgroup", e)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the folder to be free", func() bool { return removeCgroup(r.Cgroup()) == nil })
}

func TestRemoveCgroupWithFoldersInIt(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	s := shell(t, ":")
	s.Started = func(p Process) {
		if err := os.MkdirAll(filepath.Join(p.Cgroup, "a", "b"), 0o755); err != nil {
			t.Error(err)
		}
	}
	r.Run(t.Context(), s)
	if err := r.Close(); err != nil || exists(r.Cgroup()) {
		t.Errorf("close: %v, folder still there: %v", err, exists(r.Cgroup()))
	}
}

func TestSweepOfDeadDaemons(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	own := filepath.Dir(r.Cgroup())
	gone := r.Run(t.Context(), shell(t, ":")).PID
	dead := filepath.Join(own, "hookd-"+itoa(gone)+"-1")
	if err := os.MkdirAll(filepath.Join(dead, "run-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	defer removeCgroup(dead)
	newRunner(t, Options{Cgroup: true})
	if exists(dead) && unix.Kill(gone, 0) == unix.ESRCH {
		t.Errorf("%s was not swept", dead)
	}
	if !exists(r.Cgroup()) {
		t.Error("the folder of a living daemon was swept")
	}
}

func TestFallsBackWhenTheFolderIsGone(t *testing.T) {
	r := newRunner(t, Options{Cgroup: true})
	for range maxFaults + 1 {
		folders, _ := filepath.Glob(r.Cgroup() + "/run-*")
		for _, f := range folders {
			removeCgroup(f)
		}
		if e := r.Run(t.Context(), shell(t, "echo fine")); e.Err != nil || all(e.Stdout) != "fine\n" {
			t.Fatalf("got %+v, want a run without a cgroup", e)
		}
	}
}

func TestCgroupPaths(t *testing.T) {
	const v1 = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	tests := []struct {
		name, mountinfo, self, want string
	}{
		{"v2", "24 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/user.slice/hookd.service\n", "/sys/fs/cgroup/user.slice/hookd.service"},
		{"hybrid", v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n", "9:cpu:/x\n0::/\n", "/sys/fs/cgroup/unified"},
		{"v1-only", v1, "9:cpu:/x\n", ""},
		{"part-mounted", "24 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/abc/sub\n", "/sys/fs/cgroup/sub"},
		{"other-part-mounted", "24 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/abcdef\n", ""},
		{"outside-namespace", "24 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/../other\n", ""},
		{"blank", `24 23 0:28 / /mnt/c\040g rw - cgroup2 cgroup rw` + "\n", "0::/a\n", "/mnt/c g/a"},
		{"nothing", "", "", ""},
	}
	for _, c := range tests {
		mount, root := cgroupMount([]byte(c.mountinfo))
		if got := cgroupDir([]byte(c.self), mount, root); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := unescape(`a\040b\134c\0x\`); got != `a b\c\0x\` {
		t.Errorf("got %q", got)
	}
}

// A process in a frozen cgroup v1 does not die of SIGKILL before it is thawed: as a
// process that is stuck in the kernel.
func TestStuckProcessDoesNotHoldTheRun(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		freezer, err := os.MkdirTemp("/sys/fs/cgroup/freezer", "proc-test-")
		if err != nil {
			t.Skipf("SKIP-TOOL freezer: no cgroup v1 freezer: %v", err)
		}
		set := func(file, value string) {
			if err := os.WriteFile(filepath.Join(freezer, file), []byte(value), 0); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		defer func() {
			hooktest.Until(t, "the freezer to be empty", func() bool { return unix.Rmdir(freezer) == nil })
		}()
		r.reapWait = 300 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		s := shell(t, "while :; do :; done")
		var pid int
		s.Started = func(p Process) {
			pid = p.PID
			set("cgroup.procs", itoa(p.PID))
			set("freezer.state", "FROZEN")
			hooktest.Until(t, "it to freeze", func() bool {
				b, _ := os.ReadFile(filepath.Join(freezer, "freezer.state"))
				return strings.TrimSpace(string(b)) == "FROZEN"
			})
			cancel()
		}
		e := r.Run(ctx, s)
		if e.Killed == "" || e.Left != 1 || e.Code != -1 || e.Signal != "" {
			t.Errorf("got %+v, want one process left", e)
		}
		set("freezer.state", "THAWED")
		hooktest.Until(t, "it to be reaped in the background", func() bool { return !exists("/proc/" + itoa(pid)) })
		if e := r.Run(t.Context(), shell(t, "echo fine")); all(e.Stdout) != "fine\n" {
			t.Errorf("got %+v afterwards", e)
		}
	})
}
