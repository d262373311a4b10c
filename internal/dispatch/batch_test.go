package dispatch

import (
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

func envelope(t *testing.T, line string) *events.Envelope {
	t.Helper()
	env, err := events.Parse([]byte(line))
	if err != nil {
		t.Fatalf("parse %s: %v", line, err)
	}
	env.At = time.Now()
	return &env
}

// A batch leaves to Begin what is more than a record.
func TestWhatABatchTakes(t *testing.T) {
	b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("h", "some:*")}, nil)
	for _, tt := range []struct {
		name, line string
		from       Origin
		want       bool
	}{
		{"plain", `{"event":"x","session_id":"s","data":{"a":1}}`, Origin{}, true},
		{"another", `{"event":"pre_tool_use"}`, Origin{}, true},
		{"of a hook", `{"event":"some:x"}`, Origin{}, false},
		{"waits", `{"event":"x","wait":true}`, Origin{}, false},
		{"with an id", `{"event":"x","id":"7"}`, Origin{}, false},
		{"with a parent", `{"event":"x","parent":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, Origin{}, false},
		{"from a hook", `{"event":"x"}`, Origin{Hook: "h", Depth: 1}, false},
		{"large", `{"event":"x","data":{"a":"` + strings.Repeat("x", largeData) + `"}}`, Origin{}, false},
	} {
		if got := b.Batch(tt.from).Add(envelope(t, tt.line)); got != tt.want {
			t.Errorf("%s: taken %t, want %t", tt.name, got, tt.want)
		}
	}
}

// What is accepted together is numbered in order, with ids that grow, and nothing of one
// event is left in the next one that has its place.
func TestABatch(t *testing.T) {
	b := newBench(t, Options{}, nil, nil)
	all := b.Batch(Origin{})
	if err := all.Accept(func(*events.Event) { t.Error("an empty batch has an event") }); err != nil {
		t.Error(err)
	}
	first := b.emit(t, `{"event":"x"}`)
	last, seq := first.EventID, first.Seq
	for round, list := range [][]string{
		{`{"event":"a","session_id":"s","cwd":"/c","data":{"n":1}}`, `{"event":"tool:result","data":{"call_id":5}}`, `{"event":"c"}`},
		{`{"event":"d"}`},
		{`{"event":"e"}`, `{"event":"f","session_id":"t"}`},
	} {
		for _, line := range list {
			if !all.Add(envelope(t, line)) {
				t.Fatalf("%s was not taken", line)
			}
		}
		n := 0
		err := all.Accept(func(e *events.Event) {
			want := envelope(t, list[n])
			if e.Envelope.Event != want.Event || e.SessionID != want.SessionID || e.Cwd != want.Cwd || string(e.Data) != string(want.Data) {
				t.Errorf("round %d, event %d: %+v, want %s", round, n, e.Envelope, list[n])
			}
			if e.Seq != seq+1 || e.EventID <= last {
				t.Errorf("round %d, event %d: number %d and id %s after %d and %s", round, n, e.Seq, e.EventID, seq, last)
			}
			seq, last = e.Seq, e.EventID
			n++
		})
		if err != nil || n != len(list) {
			t.Errorf("round %d: %d of %d events, %v", round, n, len(list), err)
		}
	}
	if next := b.emit(t, `{"event":"x"}`); next.Seq != seq+1 || next.EventID <= last {
		t.Errorf("then number %d and id %s after %d and %s", next.Seq, next.EventID, seq, last)
	}
}

// seenTap notes the sessions of the events that come together.
type seenTap struct {
	noTap
	sessions []string
}

func (s *seenTap) AcceptedAll(es []*events.Event) {
	for _, e := range es {
		s.sessions = append(s.sessions, e.SessionID)
	}
}

// The Tap sees each event of a batch once; what is tried is in none.
func TestTheTapOfABatch(t *testing.T) {
	tap := &seenTap{}
	all := newBench(t, Options{Tap: tap}, nil, nil).Batch(Origin{})
	for _, list := range [][]string{{"a", "b"}, {"c", "d"}} {
		for _, session := range list {
			if !all.Add(envelope(t, `{"event":"x","session_id":"`+session+`"}`)) {
				t.Fatal("the event was not taken")
			}
		}
		if all.Add(envelope(t, `{"event":"x","tried":true}`)) {
			t.Error("what is tried was taken")
		}
		n := 0
		if err := all.Accept(func(*events.Event) { n++ }); err != nil || n != len(list) {
			t.Errorf("%d of %d events, %v", n, len(list), err)
		}
	}
	if got := strings.Join(tap.sessions, " "); got != "a b c d" {
		t.Errorf("the tap has seen %s", got)
	}
}

// A batch warns as Begin does.
func TestABatchWarns(t *testing.T) {
	b := newBench(t, Options{}, nil, nil)
	const odd = `{"event":"pre_tool_use","data":{"tool_name":5}}`
	want := b.emit(t, odd).Warnings
	all := b.Batch(Origin{})
	if len(want) == 0 || !all.Add(envelope(t, odd)) {
		t.Fatalf("warnings %v", want)
	}
	if err := all.Accept(func(e *events.Event) {
		if strings.Join(e.Warnings, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", e.Warnings, want)
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestADrainRefusesABatch(t *testing.T) {
	b := newBench(t, Options{}, nil, nil)
	all := b.Batch(Origin{})
	if !all.Add(envelope(t, `{"event":"x"}`)) {
		t.Fatal("not taken")
	}
	b.Drain(t.Context())
	err := all.Accept(func(*events.Event) { t.Error("accepted during a drain") })
	if err == nil || err.Code != wire.CodeDraining {
		t.Errorf("got %v, want %s", err, wire.CodeDraining)
	}
	if err := all.Accept(func(*events.Event) { t.Error("still there") }); err != nil {
		t.Error(err)
	}
}
