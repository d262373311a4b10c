package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// scarce is a Runner that has no process to spare for the first starts.
type scarce struct {
	*fake
	left atomic.Int64
}

func (s *scarce) Run(ctx context.Context, j *Job) JobResult {
	if s.left.Add(-1) >= 0 {
		return JobResult{Err: errors.New("the user has too many processes"), Short: true, ExitCode: -1, Started: time.Now()}
	}
	return s.fake.Run(ctx, j)
}

func newScarce(o Options, short int64, hooks ...*hook.Hook) (*bench, *scarce) {
	s := &scarce{fake: &fake{hooks: map[string]behaviour{}, running: map[string]int{}, most: map[string]int{}}}
	s.left.Store(short)
	b := &bench{fake: s.fake, tape: &tape{}}
	o.Runner, o.Recorder = s, b.tape
	b.Dispatcher = New(o)
	b.Publish(matchtest.Snapshot(hooks...))
	return b, s
}

// An accepted run is not lost because there is no process for it, and keeps its
// turn; meanwhile it holds no slot.
func TestObserversWaitForAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newScarce(Options{Observers: 1}, 7, matchtest.Hook("a", "agent:end"))
		for _, data := range []string{`1`, `2`, `3`} {
			b.emit(t, `{"event":"agent:end","session_id":"s","data":{"n":`+data+`}}`)
		}
		synctest.Wait()
		if st := b.Stats(); st.RunningObserve != 0 || st.Retrying != 1 || len(b.tape.find("a")) != 0 {
			t.Errorf("stats %+v, recorded %v, want one that waits for a process and no slot taken", st, b.tape.results())
		}
		b.tape.wait("a", 3)
		synctest.Wait()
		var order []string
		for _, r := range b.tape.find("a") {
			if r.Result != wire.ResultOK {
				t.Errorf("recorded %+v, want only runs that are ok", r)
			}
			order = append(order, strings.TrimSpace(r.Input))
		}
		if want := []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}; !slices.Equal(order, want) || s.left.Load() >= 0 {
			t.Errorf("ran %v, want %v", order, want)
		}
	})
}

// A guard cannot be put off: its event waits.
func TestAGuardWithoutAProcessDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newScarce(Options{}, 1, matchtest.Hook("a", "pre_tool_use"))
		r := b.emit(t, `{"event":"pre_tool_use","wait":true}`)
		if r.Verdict.Allowed || len(r.Runs) != 1 || r.Runs[0].Result != wire.ResultSpawnError {
			t.Errorf("verdict %+v, runs %+v, want a denial", r.Verdict, r.Runs)
		}
		b.Drain(t.Context())
	})
}

// When hookd stops, Drain drops a requeued run like all queued runs.
func TestDrainLetsGoWhatIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newScarce(Options{}, 1000, matchtest.Hook("a", "agent:end"))
		b.emit(t, `{"event":"agent:end"}`)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if dropped := b.Drain(ctx); dropped != 1 || len(b.tape.find("a")) != 1 {
			t.Errorf("dropped %d, recorded %v, want the one that was put off", dropped, b.tape.results())
		}
	})
}
