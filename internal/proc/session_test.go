package proc

import (
	"os"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestSession(t *testing.T) {
	r := newRunner(t, Options{})
	s := shell(t, "(while [ ! -e go ] && [ -d \"$DIR\" ]; do sleep 0.01; done) & echo $!")
	s.Started = func(p Process) {
		if sid, pgid, ok := Session(p.PID); !ok || sid != p.PID || pgid != p.PID {
			t.Errorf("got session %d group %d %v, want both %d", sid, pgid, ok, p.PID)
		}
		if !Child(p.PID) {
			t.Error("what was started is no child")
		}
	}
	e := r.Run(t.Context(), s)
	pids := survivors(t, mark(s))
	if len(pids) == 0 || !GroupAlive(e.PID) {
		t.Fatalf("got %v in group %d, alive %v, want a background child", pids, e.PID, GroupAlive(e.PID))
	}
	if sid, pgid, ok := Session(pids[0]); !ok || sid != e.PID || pgid != e.PID {
		t.Errorf("got session %d group %d %v, want both %d", sid, pgid, ok, e.PID)
	}
	if Child(pids[0]) || Child(os.Getpid()) || Child(0) {
		t.Error("a child's child, this process or pid 0 is a child")
	}
	if err := os.WriteFile(s.Dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the group to end", func() bool { return !GroupAlive(e.PID) })
	if _, _, ok := Session(e.PID); ok {
		t.Error("got a session of a process that is gone")
	}
	for _, pid := range []int{-1, 0} {
		if _, _, ok := Session(pid); ok || GroupAlive(pid) {
			t.Errorf("%d: got a session or a group", pid)
		}
	}
	if GroupAlive(1) {
		t.Error("got group 1, which would be every process")
	}
}
