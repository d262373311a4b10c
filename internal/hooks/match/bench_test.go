package match

import (
	"fmt"
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

func eventNamed(name string) *events.Event {
	return &events.Event{Envelope: events.Envelope{Event: name, Data: []byte("{}")}, Contract: events.For("", name)}
}

// A name is known once an event had it: the matching hooks are kept in the snapshot.
func BenchmarkMatch(b *testing.B) {
	ix := New(matchtest.Many(b), Options{})
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
				ix = New(ix.snapshot, Options{})
				b.StartTimer()
			}
			ix.Named("", list[i%len(list)])
		}
	})
}

// The cost of a reload before any name is known.
func BenchmarkIndex(b *testing.B) {
	snap := matchtest.Many(b)
	b.ReportAllocs()
	for b.Loop() {
		New(snap, Options{})
	}
}
