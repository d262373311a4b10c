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

func eventNamed(name string) *events.Event {
	return &events.Event{Envelope: events.Envelope{Event: name, Data: []byte("{}")}, Contract: events.For("", name)}
}

// A name is known once an event had it: what matches is kept in the snapshot.
func BenchmarkMatch(b *testing.B) {
	ix := newIndex(manyHooks(b))
	b.Run("known", func(b *testing.B) {
		e := eventNamed("app7:done")
		if got := ix.match(e); len(got) != 1 {
			b.Fatalf("%d hooks match", len(got))
		}
		b.ReportAllocs()
		for b.Loop() {
			ix.match(e)
		}
	})
	b.Run("new", func(b *testing.B) {
		list := make([]string, 1<<16)
		for i := range list {
			list[i] = fmt.Sprintf("app%d:done", i)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if i%len(list) == 0 {
				b.StopTimer()
				ix = newIndex(ix.snapshot)
				b.StartTimer()
			}
			ix.named("", list[i%len(list)])
		}
	})
}

// What a reload costs before any name is known.
func BenchmarkIndex(b *testing.B) {
	snap := manyHooks(b)
	b.ReportAllocs()
	for b.Loop() {
		newIndex(snap)
	}
}

// silent keeps nothing.
type silent struct{ seq uint64 }

func (s *silent) Accept(e *events.Event, _ []string, stored func(bool, *events.Error)) *events.Error {
	s.seq++
	e.Seq = s.seq
	if stored != nil {
		stored(false, nil)
	}
	return nil
}
func (*silent) Started(Key, string, time.Time)         {}
func (*silent) Finished(Key, events.Run, Fate)         {}
func (*silent) Keeps() bool                            { return false }
func (*silent) Pending(uint64, int) ([]Waiting, error) { return nil, nil }

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
