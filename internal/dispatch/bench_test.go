package dispatch

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
)

// manyHooks are 10,000 as people write them: 70 % plain names, 25 % prefixes,
// 5 % other globs.
func manyHooks(tb testing.TB) *hook.Snapshot {
	tb.Helper()
	snap := &hook.Snapshot{Generation: 1}
	for i := range 10_000 {
		text := fmt.Sprintf("app%d:done", i)
		switch {
		case i%40 == 0:
			text = fmt.Sprintf("*:step%d", i)
		case i%40 == 20:
			text = fmt.Sprintf("{app,job}%d:st?p", i)
		case i%4 == 1:
			text = fmt.Sprintf("app%d:*", i)
		}
		p, err := hook.CompilePattern(text)
		if err != nil {
			tb.Fatal(err)
		}
		h := &hook.Hook{ID: fmt.Sprint(i), Name: fmt.Sprint("hook", i), Patterns: []hook.Pattern{p}}
		snap.Entries = append(snap.Entries, hook.Entry{Hook: h, Name: h.Name, State: hook.Active})
	}
	return snap
}

// silent keeps nothing.
type silent struct{ seq uint64 }

func (s *silent) Accept(e *events.Event, p Prepared, _ []string, stored func(bool, *events.Error)) *events.Error {
	s.seq++
	e.Seq = s.seq
	if stored != nil {
		stored(false, nil)
	}
	return nil
}
func (*silent) Prepare(*events.Event, bool) Prepared          { return nil }
func (*silent) Started(events.PendingKey, string, time.Time)  {}
func (*silent) Finished(events.PendingKey, events.Run, Fate)  {}
func (*silent) Begun(func() events.UnderWay)                  {}
func (*silent) Decided(*events.Decided)                       {}
func (*silent) Keeps() bool                                   { return false }
func (*silent) NextPending(uint64) (int64, error)             { return 0, nil }
func (*silent) Pending(uint64, int) ([]events.Pending, error) { return nil, nil }
func (*silent) Watched() bool                                 { return false }

// What an event costs that no hook wants, but for the stream and the disk.
func BenchmarkBegin(b *testing.B) {
	d := New(Options{Runner: &fake{}, Recorder: &silent{}})
	d.Publish(manyHooks(b))
	env, bad := events.Parse([]byte(`{"event":"bench:none","session_id":"s1","cwd":"/tmp","sender":"uid:0","data":{"text":"x"}}`))
	if bad != nil {
		b.Fatal(bad)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Begin(Origin{}, &env); err != nil {
			b.Fatal(err)
		}
	}
}
