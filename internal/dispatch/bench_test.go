package dispatch

import (
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// silent keeps nothing.
type silent struct{ seq uint64 }

func (s *silent) Accept(e *events.Event, p Prepared, _ []string, stored func(bool, *wire.Error)) *wire.Error {
	s.seq++
	e.Seq = s.seq
	if stored != nil {
		stored(false, nil)
	}
	return nil
}
func (*silent) Prepare(*events.Event, bool) Prepared         { return nil }
func (*silent) Started(events.PendingKey, string, time.Time) {}
func (*silent) Finished(events.PendingKey, wire.Run, Fate)   {}
func (*silent) Begun(func() wire.UnderWay)                   {}
func (*silent) Decided(*wire.Decision)                       {}
func (*silent) Deciding(*wire.Decision, bool, bool)          {}
func (*silent) Ended(uint64, wire.Guarded, wire.Ran)         {}
func (*silent) Began(string, events.Dialect, string, time.Time, time.Duration) (time.Time, *wire.Decision, bool) {
	return time.Time{}, nil, false
}
func (*silent) Durable() bool                                 { return false }
func (*silent) NextPending(uint64) (int64, error)             { return 0, nil }
func (*silent) Pending(uint64, int) ([]events.Pending, error) { return nil, nil }
func (*silent) HasSubscribers() bool                          { return false }

// The cost of an event that no hook wants, except for the stream and the disk.
func BenchmarkBegin(b *testing.B) {
	d := New(Options{Runner: &fake{}, Recorder: &silent{}})
	d.Publish(matchtest.Many(b))
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
