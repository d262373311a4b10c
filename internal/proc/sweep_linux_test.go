package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A predecessor: it runs the script of its arguments (record, cgroup or group,
// folder, mark, script) until it is killed, and says so when the script's
// process has started.
func init() {
	helpers["predecessor"] = func(args []string) int {
		r := New(Options{Journal: args[0], Cgroup: args[1] == "cgroup"})
		if args[1] == "cgroup" && r.Cgroup() == "" {
			fmt.Println("no cgroup")
			return 0
		}
		r.Run(context.Background(), Spec{
			Path: "/bin/sh", Args: []string{"-c", args[4]}, Dir: args[2],
			Env:     []string{"PATH=" + os.Getenv("PATH"), args[3]},
			Started: func(Process) { fmt.Println("started") },
		})
		fmt.Println("ended")
		syscall.Pause()
		return 0
	}
}

// killed is the trace of a daemon that was killed with SIGKILL.
type killed struct {
	record, mark, dir string
	leader            int // pid of the hook's process
}

// kill9 runs script in a predecessor until ready is there, and kills that.
func kill9(t *testing.T, way, script, ready string) killed {
	t.Helper()
	s := shell(t, script)
	k := killed{record: filepath.Join(t.TempDir(), "hookd", "runs"), mark: mark(s), dir: s.Dir}
	t.Cleanup(func() {
		for _, pid := range survivors(t, k.mark) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	h := helper(t, "predecessor", k.record, way, s.Dir, mark(s), script)
	cmd := exec.Command(h.Path, h.Args...)
	cmd.Env = append(h.Env, "PATH="+os.Getenv("PATH"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	said := make([]byte, 64)
	n, _ := out.Read(said)
	if bytes.HasPrefix(said[:n], []byte("no cgroup")) {
		t.Skip("SKIP-TOOL cgroup: no writable cgroup v2 here")
	}
	hooktest.Until(t, ready, func() bool { return exists(filepath.Join(s.Dir, ready)) })
	if ready == "over" {
		hooktest.Until(t, "the end of the run", func() bool { _, runs := readJournal(k.record); return len(runs) == 0 })
		return k
	}
	hooktest.Until(t, "the run in the record", func() bool {
		_, runs := readJournal(k.record)
		if len(runs) == 1 {
			k.leader = runs[0].PID
		}
		return len(runs) == 1
	})
	return k
}

// wantAlive wants n processes alive after a sweep that touched none.
func wantAlive(t *testing.T, k killed, r *Runner, n int) {
	t.Helper()
	if got := r.Swept(); got != (Swept{}) {
		t.Errorf("got %+v, want nothing ended", got)
	}
	hooktest.Until(t, "processes that live", func() bool { return len(survivors(t, k.mark)) == n }) // one that is being executed shows no environment
}

var ways = []string{"group", "cgroup"}

func sweepOptions(way string, k killed) Options {
	return Options{Cgroup: way == "cgroup", Journal: k.record}
}

// A process that was under way when the daemon was killed ends, in whatever session it
// is, whether its leader lives or not.
func TestRunsOfAKilledPredecessorAreEnded(t *testing.T) {
	for _, c := range []struct {
		name, script string
		left         int // processes before the sweep
	}{
		{"leader", "touch ready; exec sleep 300", 1},
		{"grandchildren", "sh -c 'sleep 300 & setsid sleep 300 & wait' & touch ready; wait", 4},
		{"two-sessions-down", "setsid sh -c 'setsid sleep 300 & wait' & touch ready; wait", 3},
		{"leader-dies", "setsid sleep 300 & sleep 300 & touch ready; while [ $(cut -d' ' -f4 /proc/$$/stat) = $PPID ]; do :; done; kill -9 $$", 2},
	} {
		for _, way := range ways {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				k := kill9(t, way, c.script, "ready")
				hooktest.Until(t, "the processes", func() bool { return len(survivors(t, k.mark)) == c.left })
				r := newRunner(t, sweepOptions(way, k))
				hooktest.Until(t, "their end", func() bool { return len(survivors(t, k.mark)) == 0 })
				if got := r.Swept(); got != (Swept{Runs: 1}) {
					t.Errorf("got %+v, want one run and no process left", got)
				}
				if o, runs := readJournal(k.record); o.PID != os.Getpid() || len(runs) != 0 {
					t.Errorf("got %+v %+v, want an own record", o, runs)
				}
			})
		}
	}
}

// Documented advice: a hook may leave a background child and end.
func TestBackgroundChildrenOutliveAKilledDaemon(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			k := kill9(t, way, "sleep 300 & setsid sleep 300 & touch over", "over")
			hooktest.Until(t, "the children", func() bool { return len(survivors(t, k.mark)) == 2 })
			r := newRunner(t, sweepOptions(way, k))
			wantAlive(t, k, r, 2)
		})
	}
}

// A record that does not fit the process says nothing about it.
func TestStrangersAreNotTouched(t *testing.T) {
	tests := []struct {
		name string
		edit func(o *owner, e *entry)
	}{
		{"start-time", func(_ *owner, e *entry) { e.Start[0]--; e.Start[1] = e.Start[0]; e.Links = nil }},
		{"later-start", func(_ *owner, e *entry) { e.Start[1]++; e.Start[0] = e.Start[1]; e.Links = nil }},
		{"boot", func(o *owner, _ *entry) { o.Boot = "another boot pid:[1]" }},
		{"seconds-off", func(_ *owner, e *entry) { e.Start[0] -= 200; e.Start[1] = e.Start[0] + 2; e.Links = nil }},
		{"pid", func(_ *owner, e *entry) { e.PID = os.Getpid(); e.Links = nil }},
		{"init", func(_ *owner, e *entry) { e.PID, e.Start, e.Links = 1, span{}, nil }},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			k := kill9(t, "group", "setsid sleep 300 & touch ready; wait", "ready")
			hooktest.Until(t, "the processes", func() bool { return len(survivors(t, k.mark)) == 2 })
			editRecord(t, k.record, c.edit)
			r := newRunner(t, Options{Journal: k.record})
			wantAlive(t, k, r, 2)
		})
	}
}

// A record that does not name its boot says nothing about any process, and is kept.
func TestARecordWithoutItsBootIsSetAside(t *testing.T) {
	k := kill9(t, "group", "setsid sleep 300 & touch ready; wait", "ready")
	hooktest.Until(t, "the processes", func() bool { return len(survivors(t, k.mark)) == 2 })
	editRecord(t, k.record, func(o *owner, _ *entry) { o.Boot = "" })
	was, err := os.ReadFile(k.record)
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{Journal: k.record})
	if got := r.Swept(); got != (Swept{Unread: k.record + ".unread"}) {
		t.Errorf("got %+v, want the record set aside and nothing ended", got)
	}
	if kept, err := os.ReadFile(k.record + ".unread"); err != nil || !bytes.Equal(kept, was) {
		t.Errorf("got %q %v, want %q", kept, err, was)
	}
	hooktest.Until(t, "processes that live", func() bool { return len(survivors(t, k.mark)) == 2 })
}

// The pid of a hook's process that has ended is another's by now, which leads
// a session of that number.
func TestASessionOfAStrangerIsNotTouched(t *testing.T) {
	k := kill9(t, "group", "sleep 300 >/dev/null 2>&1 </dev/null & touch ready; wait", "ready")
	hooktest.Until(t, "the processes", func() bool { return len(survivors(t, k.mark)) == 2 })
	editRecord(t, k.record, func(_ *owner, e *entry) { e.Start[0]--; e.Start[1] = e.Start[0]; e.Links = nil })
	syscall.Kill(k.leader, syscall.SIGKILL)
	hooktest.Until(t, "the leader's end", func() bool { return len(survivors(t, k.mark)) == 1 })
	r := newRunner(t, Options{Journal: k.record})
	wantAlive(t, k, r, 1)
}

// A folder that has the name of the predecessor's is not its folder.
func TestACgroupOfAStrangerIsNotTouched(t *testing.T) {
	k := kill9(t, "cgroup", "touch ready; exec sleep 300", "ready")
	editRecord(t, k.record, func(o *owner, e *entry) { o.Inode++; e.PID, e.Links = 1<<22-1, nil })
	r := newRunner(t, Options{Cgroup: true, Journal: k.record})
	wantAlive(t, k, r, 1)
}

// A hook may start the next daemon: that lives, the rest of the run does not.
func TestADaemonThatAHookStarted(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			k := kill9(t, way, "sleep 300 & touch ready; while :; do sleep 0.05; [ -e go ] && \"$(cat go)\"; done", "ready")
			o, runs := readJournal(k.record)
			hooktest.Until(t, "the processes", func() bool { return len(survivors(t, k.mark)) >= 2 })
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			next := script(t, "next", fmt.Sprintf("#!/bin/sh\n%s=sweeper GORACE=atexit_sleep_ms=0 exec %s %s %s\n", helperVar, exe, k.record, way), 0o755)
			if err := os.WriteFile(filepath.Join(k.dir, "go.new"), []byte(next), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(k.dir, "go.new"), filepath.Join(k.dir, "go")); err != nil {
				t.Fatal(err)
			}
			hooktest.Until(t, "the next daemon's sweep", func() bool { return exists(k.record + ".swept") })
			text, err := os.ReadFile(k.record + ".swept")
			if err != nil || string(text) != fmt.Sprintf("%+v", Swept{Runs: 1}) {
				t.Errorf("got %q, %v of owner %+v runs %+v", text, err, o, runs)
			}
			hooktest.Until(t, "the others' end", func() bool { return len(survivors(t, k.mark)) == 1 })
			if pids := survivors(t, k.mark); len(pids) == 1 {
				syscall.Kill(pids[0], syscall.SIGKILL)
			}
		})
	}
}

func init() {
	helpers["sweeper"] = func(args []string) int {
		r := New(Options{Journal: args[0], Cgroup: args[1] == "cgroup"})
		os.WriteFile(args[0]+".new", fmt.Appendf(nil, "%+v", r.Swept()), 0o600)
		os.Rename(args[0]+".new", args[0]+".swept")
		syscall.Pause()
		return 0
	}
}

func editRecord(t *testing.T, path string, edit func(*owner, *entry)) {
	t.Helper()
	o, runs := readJournal(path)
	edit(&o, &runs[0])
	if err := os.WriteFile(path, append(padded(o, ownerSize), padded(runs[0], slotSize)...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The record is bounded by the runs at once, and gone with the daemon.
func TestRecordIsUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs")
	r := newRunner(t, Options{Journal: path})
	for range 20 {
		s := Spec{Path: "/bin/true", Timeout: time.Minute}
		s.Started = func(p Process) {
			if _, runs := readJournal(path); len(runs) != 1 || runs[0].PID != p.PID {
				t.Errorf("got %+v, want the run of %d", runs, p.PID)
			}
		}
		r.Run(t.Context(), s)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != ownerSize+slotSize || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want one slot for runs one by one", info, err)
	}
	if err := r.Close(); err != nil || exists(path) {
		t.Errorf("got %v, want the record removed", err)
	}
}

// Whatever is in the file: New reads it or sets it aside, and nothing is killed.
func TestDamagedRecords(t *testing.T) {
	self, _ := json.Marshal(owner{Boot: bootID()})
	known := string(padded(owner{Boot: bootID()}, ownerSize))
	for text, unread := range map[string]bool{
		"": false, "x": true, string(self): true, known + "half a li": false,
		known + strings.Repeat("x", slotSize-1) + "\n" + strings.Repeat("{", slotSize): false,
	} {
		path := filepath.Join(t.TempDir(), "runs")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := Swept{}
		if unread {
			want.Unread = path + ".unread"
		}
		if got := newRunner(t, Options{Journal: path}).Swept(); got != want {
			t.Errorf("got %+v of %.40q, want %+v", got, text, want)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	r := newRunner(b, Options{Journal: filepath.Join(b.TempDir(), "runs")})
	out, w, err := pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer closeAll([]int{out, w})
	p := &process{r: r, pid: os.Getpid(), stdin: "/memfd:hookd-0123456789abcdef (deleted)", out: stream{fd: out}, err: stream{fd: w}}
	for b.Loop() {
		r.journal.remove(r.journal.add(p, r.journal.clock()))
	}
}
