package match

import (
	"fmt"
	"testing"

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
	ix := New(manyHooks(b), nil)
	b.Run("known", func(b *testing.B) {
		e := eventNamed("app7:done")
		if got := ix.Match(e); len(got) != 1 {
			b.Fatalf("%d hooks match", len(got))
		}
		b.ReportAllocs()
		for b.Loop() {
			ix.Match(e)
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
				ix = New(ix.snapshot, nil)
				b.StartTimer()
			}
			ix.Named("", list[i%len(list)])
		}
	})
}

// What a reload costs before any name is known.
func BenchmarkIndex(b *testing.B) {
	snap := manyHooks(b)
	b.ReportAllocs()
	for b.Loop() {
		New(snap, nil)
	}
}
