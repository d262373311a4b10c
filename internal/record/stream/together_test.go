package stream

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Events that are published together have the records that each would have alone, also
// where one says the same as the one before it in all but one member.
func TestEventsPublishedTogether(t *testing.T) {
	plain := events.Event{
		Envelope: events.Envelope{Event: "agent:step", SessionID: "s\n1", Cwd: "/tmp", Data: json.RawMessage(`{"n":1}`)},
		Time:     time.Unix(1_700_000_000, 123_000_000).UTC(),
	}
	var list []*events.Event
	for _, change := range []func(e *events.Event){
		func(e *events.Event) { e.Event = "agent:end" },
		func(e *events.Event) { e.Data = nil },
		func(e *events.Event) {
			e.Data = json.RawMessage(`{"long":"` + string(bytes.Repeat([]byte("x"), chunkSize)) + `"}`)
		},
		func(e *events.Event) { e.Time = e.Time.Add(time.Nanosecond) },
		func(e *events.Event) { e.Sender = "uid:1000" },
		func(e *events.Event) { e.Dialect = events.LibreFang },
		func(e *events.Event) { e.SessionID = "s2" },
		func(e *events.Event) { e.AgentID = "a" },
		func(e *events.Event) { e.AgentName = "a" },
		func(e *events.Event) { e.Cwd = "" },
		func(e *events.Event) { e.Lane = events.LanePreempt },
		func(e *events.Event) { e.Parent = "p" },
		func(e *events.Event) { e.ReplayOf = "r" },
		func(e *events.Event) { e.Depth = 3 },
		func(e *events.Event) { e.Tool = "Bash" },
		func(e *events.Event) { e.Subject = `say "hello"` },
	} {
		same, other := plain, plain
		change(&other)
		list = append(list, &same, &other)
	}
	for _, e := range list {
		e.EventID = events.NewID(e.Time)
	}
	for _, size := range []int{1, 5, 100} {
		h := New(Options{Size: size, MaxBytes: 1 << 20})
		h.Publish("before", told(10))
		s := h.Subscribe(nil, From{Since: new(uint64)})
		h.PublishEvents(list)
		h.PublishEvents(list[:1])
		got := lastLines(t, h, s, min(size, len(list)+1))
		for i := len(got) - 1; i >= 0; i-- {
			e, seq := list[0], uint64(len(list)+2)
			if back := len(got) - 1 - i; back > 0 {
				e, seq = list[len(list)-back], seq-uint64(back)
			}
			want := append(EventRecord(e)(seq, nil), '\n')
			if !bytes.Equal(got[i], want) {
				t.Fatalf("ring of %d: record %d is\n%s, want\n%s", size, i, got[i], want)
			}
		}
		s.Close()
	}
	if list[0].Seq != uint64(len(list)+2) || list[1].Seq != 3 {
		t.Errorf("numbers %d and %d, want %d and 3", list[0].Seq, list[1].Seq, len(list)+2)
	}
}

// lastLines reads to the end of h and returns the last n records.
func lastLines(t *testing.T, h *Hub, s *Subscription, n int) [][]byte {
	t.Helper()
	h.Close()
	var all []byte
	for {
		var err error
		if all, err = s.Next(t.Context(), all); err != nil {
			break
		}
	}
	lines := bytes.SplitAfter(all, []byte("\n"))
	lines = lines[:len(lines)-1]
	if len(lines) < n {
		t.Fatalf("%d records, want %d", len(lines), n)
	}
	return lines[len(lines)-n:]
}

// The numbers of equal events count on through all lengths.
func TestEqualEventsPublishedTogether(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	e := events.Event{Envelope: events.Envelope{Event: "x", Data: json.RawMessage(`{}`)}, Time: time.Unix(1_700_000_000, 0).UTC()}
	var list []*events.Event
	for range 1020 {
		own := e
		own.EventID = events.NewID(e.Time)
		list = append(list, &own)
	}
	h.PublishEvents(list[:7])
	h.PublishEvents(list[7:])
	got := lastLines(t, h, s, len(list))
	for i, e := range list {
		if want := append(EventRecord(e)(uint64(i+1), nil), '\n'); !bytes.Equal(got[i], want) {
			t.Fatalf("record %d is\n%s, want\n%s", i+1, got[i], want)
		}
	}
}
