package dispatch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// Of the events of a session within the window the last one runs, at its end; each of
// the others is recorded as merged.
func TestDebounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := matchtest.With(matchtest.Hook("log", "agent:step"), func(h *hook.Hook) { h.Debounce = 2 * time.Second })
		b := newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"log": {}})
		begun := time.Now()
		for i := range 5 {
			for _, session := range []string{"a", "b"} {
				b.emit(t, fmt.Sprintf(`{"event":"agent:step","session_id":%q,"data":{"i":%d}}`, session, i))
			}
		}
		b.tape.wait("log", 10)
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("they ran after %v", took)
		}
		if len(b.fake.ran) != 2 || !strings.Contains(b.fake.ran[0], `"i":4`) || !strings.Contains(b.fake.ran[1], `"i":4`) {
			t.Errorf("ran %v, want the last of each session", b.fake.ran)
		}
		merged := 0
		for _, r := range b.tape.runs {
			if r.Result == wire.ResultMerged && strings.Contains(r.Reason, "within 2s") {
				merged++
			}
		}
		if merged != 8 {
			t.Errorf("%d runs are recorded as merged, want 8", merged)
		}
		b.emit(t, `{"event":"agent:step","session_id":"a","data":{"i":5}}`)
		b.tape.wait("log", 11)
		synctest.Wait() // a run is recorded before its place is free
		if s := b.Stats(); s.QueuedRuns != 0 || s.QueuedEvents != 0 || s.QueuedBytes != 0 {
			t.Errorf("the queue has %+v", s)
		}
	})
}

// A hook runs as often as its throttle lets it, and again when the time has passed.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := matchtest.With(matchtest.Hook("log", "agent:step"), func(h *hook.Hook) { h.Throttle = hook.Rate{Runs: 2, Per: 10 * time.Second} })
		b := newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"log": {}})
		emit := func() wire.Result {
			r := b.emit(t, `{"event":"agent:step","data":{},"wait":true}`)
			return r.Runs[0].Result
		}
		var got []wire.Result
		for range 4 {
			got = append(got, emit())
		}
		after := time.NewTimer(10 * time.Second)
		<-after.C
		got = append(got, emit())
		if want := "[ok ok merged merged ok]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		synctest.Wait()
		if s := b.Stats(); s.QueuedEvents != 0 {
			t.Errorf("the queue has %+v", s)
		}
	})
}

// A run that waits for the end of its window when hookd stops is not lost in silence.
func TestDebounceEndsWithHookd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := matchtest.With(matchtest.Hook("log", "agent:step"), func(h *hook.Hook) { h.Debounce = time.Hour })
		b := newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"log": {}})
		b.emit(t, `{"event":"agent:step","session_id":"a","data":{}}`)
		stopped, cancel := contextEnded()
		defer cancel()
		if dropped := b.Drain(stopped); dropped != 1 || len(b.fake.ran) != 0 {
			t.Errorf("%d dropped, ran %v", dropped, b.fake.ran)
		}
		b.tape.wait("log", 1)
	})
}

func contextEnded() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}
