package dispatch

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// held is a hook whose file does not answer until it is released.
func held(release <-chan struct{}) behaviour {
	return behaviour{does: func(j *Job) { j.Looks("/mnt/dead/run.sh"); <-release }}
}

// find returns the runs of a hook that were recorded.
func (t *tape) find(hook string) (list []wire.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		if r.Hook == hook {
			list = append(list, r)
		}
	}
	return list
}

func TestAnObserverWhoseFilesDoNotAnswerGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck, other := matchtest.Hook("stuck", "agent:end"), matchtest.Hook("other", "agent:step")
		stuck.Timeout = time.Second
		b := newBench(t, Options{Observers: 1}, []*hook.Hook{stuck, other}, map[string]behaviour{"stuck": held(release)})
		start := time.Now()
		b.emit(t, `{"event":"agent:end"}`)
		b.emit(t, `{"event":"agent:step"}`)
		b.emit(t, `{"event":"agent:end"}`)
		b.tape.wait("stuck", 2)
		b.tape.wait("other", 1)
		synctest.Wait()
		if got := b.tape.find("other"); len(got) != 1 || got[0].Result != wire.ResultOK || got[0].Started.Sub(start) != time.Second+startTime {
			t.Errorf("the other hook: %+v, want a run when the stuck one was given up", got)
		}
		runs := b.tape.find("stuck")
		if len(runs) != 2 || runs[0].Result != wire.ResultTimeout || runs[1].Result != wire.ResultSpawnError {
			t.Fatalf("recorded %+v, want a timeout, then a run that is not tried", runs)
		}
		for _, r := range runs {
			if !strings.Contains(r.Error, `"/mnt/dead/run.sh" did not answer`) {
				t.Errorf("error %q does not name the file", r.Error)
			}
		}
		if s := b.Stats(); s.RunningObserve != 0 {
			t.Errorf("%d runs hold slots, want none", s.RunningObserve)
		}
		close(release)
		synctest.Wait()
		b.emit(t, `{"event":"agent:end"}`)
		synctest.Wait()
		if runs := b.tape.find("stuck"); len(runs) != 3 || runs[2].Result != wire.ResultOK {
			t.Errorf("recorded %+v, want a run when the files answer again", runs)
		}
	})
}

func TestAGuardWhoseFilesDoNotAnswerDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := matchtest.Hook("stuck", "pre_tool_use")
		stuck.Timeout = time.Second
		b := newBench(t, Options{Decidable: 1}, []*hook.Hook{stuck}, map[string]behaviour{"stuck": held(release)})
		const event = `{"event":"pre_tool_use","wait":true}`
		for i, want := range []time.Duration{time.Second + startTime, 0, 0} {
			start := time.Now()
			r := b.emit(t, event)
			if took := time.Since(start); took != want || r.Verdict.Allowed || !strings.Contains(r.Verdict.Message, "did not answer") {
				t.Errorf("verdict %d: %+v after %s, want a denial after %s", i+1, r.Verdict, took, want)
			}
		}
		if s := b.Stats(); s.RunningDecide != 0 {
			t.Errorf("%d runs hold slots, want none", s.RunningDecide)
		}
		close(release)
		synctest.Wait()
		if r := b.emit(t, event); !r.Verdict.Allowed {
			t.Errorf("verdict %+v, want none when the files answer again", r.Verdict)
		}
	})
}

// A directory that an event names does not stand for those of other events, but
// a hook holds no more than a few threads so.
func TestADirectoryThatDoesNotAnswerHoldsItsOwnEventsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := matchtest.Hook("here", "pre_tool_use")
		h.Timeout, h.InEventCwd = time.Second, true
		dead := behaviour{does: func(j *Job) {
			if strings.HasPrefix(j.Event.Cwd, "/dead") {
				j.Looks(j.Event.Cwd)
				<-release
			}
		}}
		b := newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"here": dead})
		in := func(dir string) (allowed bool, took time.Duration) {
			start := time.Now()
			r := b.emit(t, `{"event":"pre_tool_use","wait":true,"cwd":"`+dir+`"}`)
			return r.Verdict.Allowed, time.Since(start)
		}
		for i := range maxStalled {
			if i == maxStalled-1 {
				if ok, _ := in("/alive"); !ok {
					t.Error("an event of another directory is denied")
				}
			}
			if ok, took := in("/dead/" + string(rune('a'+i))); ok || took == 0 {
				t.Errorf("allowed %v after %s, want a denial at the deadline", ok, took)
			}
		}
		for _, dir := range []string{"/dead/a", "/dead/new"} {
			if ok, took := in(dir); ok || took != 0 {
				t.Errorf("%s: allowed %v after %s, want a denial at once", dir, ok, took)
			}
		}
		close(release)
		synctest.Wait()
		if ok, _ := in("/dead/a"); !ok {
			t.Error("denied when the directories answer again")
		}
	})
}

// A process that starts after its run was given up is not taken for one of the
// chain forever.
func TestAStartThatComesBackLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		late := matchtest.Hook("late", "agent:end")
		late.Timeout = time.Second
		b := newBench(t, Options{GroupAlive: func(int) bool { return false }}, []*hook.Hook{late}, map[string]behaviour{"late": {does: func(j *Job) {
			j.Starting()
			<-release
			j.Started(Process{PID: 77})
		}}})
		b.emit(t, `{"event":"agent:end"}`)
		b.tape.wait("late", 1) // it was given up
		close(release)
		synctest.Wait()
		b.chain.mu.Lock()
		defer b.chain.mu.Unlock()
		if b.chain.groups[77] != nil || len(b.chain.starts.under) > 0 || slices.ContainsFunc(b.chain.depths[:], func(a activity) bool { return a.running > 0 }) {
			t.Errorf("the chain still knows groups %v, starts %v, depths %v", b.chain.groups, b.chain.starts.under, b.chain.depths)
		}
	})
}
