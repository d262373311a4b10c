package store

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// The text searched for secrets is the text that is kept: of a large payload a fixed
// part, wherever it is cut nothing of a secret is left.
func TestRedactionOfALargePayload(t *testing.T) {
	var looked atomic.Int64
	secret := "SECRET" + strings.Repeat("s", 3000) + "END"
	p := &Limits{Payload: PayloadPreview, Redact: func(text []byte) []byte {
		looked.Add(int64(len(text)))
		return bytes.ReplaceAll(text, []byte(secret), []byte("[REDACTED]"))
	}}
	for _, at := range []int{0, 1, 100, previewBytes - 1, previewBytes, redactBytes/2 - 1500, redactBytes - 1500, 1 << 20} {
		for _, secrets := range []int{1, 5, 40} {
			data := []byte(`{"t":"` + strings.Repeat("x", at) + strings.Repeat(secret, secrets) + strings.Repeat("y", 15<<20) + `"}`)
			for _, pending := range []bool{false, true} {
				looked.Store(0)
				e := &events.Event{Envelope: events.Envelope{Event: "agent:end", Data: data}, EventID: "1", Time: time.Now()}
				row := encodeEvent(e, pending, p)
				if n := looked.Load(); n > 2*redactBytes {
					t.Errorf("secret at %d: %d bytes were looked at", at, n)
				}
				kept := row.data
				if pending {
					if kept = row.laterData; !bytes.Equal(row.data, data) {
						t.Errorf("secret at %d: the hooks would not get all", at)
					}
				}
				if bytes.Contains(kept, []byte("SEC")) || bytes.Contains(kept, []byte("sss")) || len(kept) > previewBytes {
					t.Errorf("secret at %d: kept is %.60q…, %d bytes", at, kept, len(kept))
				}
				if at+len(`{"t":"`) < previewBytes && !row.redacted {
					t.Errorf("secret at %d is not said to be taken out", at)
				}
			}
		}
	}
	if kept, text := (&Limits{Payload: PayloadNone, Redact: p.Redact}).keep(make([]byte, 1<<20), previewBytes); kept != keptNone || text != nil {
		t.Error("something is kept of a payload of which nothing may be kept")
	}
}

// Large events are read from disk one at a time, small ones together.
func TestWhatIsReadAtOnceIsBounded(t *testing.T) {
	o := options(t)
	o.Limits.Payload = PayloadFull
	s := open(t, o)
	const large, small = 5, 40
	data := `{"t":"` + strings.Repeat("x", 3*pendingBytes/2) + `"}`
	for seq := uint64(1); seq <= large; seq++ {
		accept(t, s, event(seq, "agent:step", data), "a", "b")
	}
	for seq := uint64(large + 1); seq <= large+small; seq++ {
		accept(t, s, event(seq, "agent:step", `{}`), "a", "b")
	}
	closed(t, s)
	s = open(t, o)
	for after, reads := uint64(0), 0; after < large+small; reads++ {
		page, err := s.Pending(t.Context(), after, 256)
		if err != nil || len(page) == 0 {
			t.Fatal(page, err)
		}
		seen := map[uint64]int{}
		for _, p := range page {
			seen[p.Event.Seq] = len(p.Event.Data)
			after = p.Event.Seq
		}
		if want := 1; reads < large && len(seen) != want || reads >= large && len(seen) != small {
			t.Errorf("read %d gave %d events", reads, len(seen))
		}
	}
	for after, reads := uint64(0), 0; after < large+small; reads++ {
		feed, err := s.Since(t.Context(), after, large+small, 256, pendingBytes)
		if err != nil || feed.Through <= after {
			t.Fatal(feed, err)
		}
		if after = feed.Through; reads < large && len(feed.Records) != 1 || reads >= large && len(feed.Records) != small {
			t.Errorf("read %d gave %d records", reads, len(feed.Records))
		}
	}
}

// Memory has the oldest pending events, which run next; an event that memory
// has is not read again.
func TestTheOldestPendingEventsAreHeld(t *testing.T) {
	const most = 64 << 20
	l, data := newPendingMemory(most), make([]byte, most/4-heldCost)
	rows := []pendingRow{{hook: "a"}}
	made := func(seq uint64) *events.Event { return &events.Event{Envelope: events.Envelope{Data: data}, Seq: seq} }
	for seq := uint64(1); seq <= 10; seq++ {
		l.holdNew(made(seq), rows)
	}
	for seq := uint64(1); seq <= 6; seq++ { // memory is full of 1 to 4
		l.end(events.PendingKey{Seq: seq, Hook: "a"})
		l.holdNew(made(seq+10), rows)
		next := made(seq + 4)
		l.holdRead(next, rows, most)
		if l.event(seq+4) != next || l.inRAM > most {
			t.Errorf("after the end of %d, %d is not held, or %d bytes are", seq, seq+4, l.inRAM)
		}
	}
}
