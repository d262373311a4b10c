package store

import (
	"os"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// A database that is begun in the place of a deleted one has the ids and answers of the
// events that were accepted before.
func TestIDsAreCarriedToANewFile(t *testing.T) {
	o := options(t)
	s, in := watched(t, o)
	want := events.SentEvent{
		Sender: "me", ID: "7", Sent: events.Sent{Content: [32]byte{1}, Matched: []string{"guard"}},
		Time: time.Now().UTC(), EventID: "e7", Seq: 7, Warnings: []string{"odd"}, Wait: true, Decided: true, Answer: []byte(`{"a":1}`),
	}
	s.Keep(func() []events.SentEvent { return []events.SentEvent{want} })
	accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "a")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(o.Path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	accept(t, s, event(s.FirstSeq()+1, "agent:end", `{}`), "a")
	flush(t, s)
	if _, ok := in.find(IncidentGone); !ok {
		t.Fatal("it is not noticed that the file was deleted")
	}
	closed(t, s)

	s = open(t, o)
	var got []events.SentEvent
	err := s.Sent(time.Now().Add(-time.Minute), func(e events.SentEvent) { got = append(got, e) })
	if err != nil || len(got) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	e := got[0]
	if e.Sender != want.Sender || e.ID != want.ID || e.Content != want.Content || e.EventID != want.EventID || e.Seq != want.Seq ||
		!e.Wait || !e.Decided || string(e.Answer) != string(want.Answer) || len(e.Matched) != 1 || len(e.Warnings) != 1 || !e.Time.Equal(want.Time) {
		t.Errorf("got %+v, want %+v", e, want)
	}
}
