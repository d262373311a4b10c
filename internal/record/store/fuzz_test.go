package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// FuzzHistogram: a damaged histogram is an error, another is the same again
// when it is written.
func FuzzHistogram(f *testing.F) {
	var h histogram
	f.Add(h.encode(), int64(0))
	for _, d := range []time.Duration{0, time.Microsecond, time.Second, time.Hour, 1 << 62} {
		h.add(d)
		f.Add(h.encode(), int64(d))
	}
	f.Add([]byte{0xff, 0x01, 0x01, 0x01}, int64(-1))
	f.Add([]byte{0x05, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x01}, int64(5))
	f.Fuzz(func(t *testing.T, in []byte, d int64) {
		var h, again histogram
		if err := h.decode(in); err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("%x: got %v, want %v", in, err, errCorrupt)
			}
			return
		}
		if err := again.decode(h.encode()); err != nil || again != h {
			t.Fatalf("%x is another histogram when it is written: %v", in, err)
		}
		if len(h.encode()) > len(in) {
			t.Fatalf("%x is written as %x", in, h.encode())
		}
		for _, p := range []float64{0, 0.5, 0.99, 1} {
			if got := h.percentile(p); got < 0 || got > 2*middle(len(h)-1) {
				t.Fatalf("%x: percentile %v is %v", in, p, got)
			}
		}
		if b := bucketOf(time.Duration(d)); b < 0 || b >= len(h) {
			t.Fatalf("%v is in bucket %d", time.Duration(d), b)
		}
	})
}

// FuzzEventRow: an event comes out of its row as it went in, whatever was sent;
// and a damaged row is an error that says so.
func FuzzEventRow(f *testing.F) {
	for _, s := range []string{`{"event":"agent:end","data":{"a":1}}`, `{"event":"pre_tool_use","dialect":"docker-agent","wait":true,"session_id":"s","lane":"preempt","ts":"2026-01-02T03:04:05.6Z"}`, `{"event":"x:y","agent_id":"a","agent_name":"","cwd":"/w","parents":["p"]}`, `{"event":"é:x","data":{"k":"\u2028<"}}`} {
		f.Add([]byte(s), 2, "r")
	}
	f.Add([]byte(`{"event":`), -1, "")
	f.Add([]byte(`{"agent_named":"x"}`), 0, "\x00")
	limits := &Limits{Payload: PayloadPreview, Redact: func(b []byte) []byte { return b }}
	f.Fuzz(func(t *testing.T, line []byte, depth int, replay string) {
		if e, err := (eventRow{detail: line}).decode(nil); err == nil != json.Valid(line) && err == nil || err != nil && !errors.Is(err, errCorrupt) {
			t.Fatalf("row %q: %+v, %v", line, e, err)
		}
		env, bad := events.Parse(line)
		if bad != nil {
			return
		}
		now := time.Now().UTC()
		e := &events.Event{Envelope: env, EventID: events.NewID(now), Seq: 3, Time: now, Depth: depth, ReplayOf: string(bytes.ToValidUTF8([]byte(replay), nil)), Contract: events.For(env.Dialect, env.Event)}
		row := encodeEvent(e, true, limits)
		got, err := row.decode(row.data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain(t, got), plain(t, e)) || got.Contract.Name != e.Contract.Name || got.Contract.Dialect != e.Contract.Dialect {
			t.Fatalf("of  %+v\ncame %+v", e, got)
		}
		if cut := whole(row.data[:min(len(row.data), previewBytes)]); !bytes.HasPrefix(row.data, cut) || len(cut) < min(len(row.data), previewBytes)-3 {
			t.Fatalf("%q is shown as %q", row.data, cut)
		}
	})
}

// plain is an event as JSON tells it, with the fields that JSON leaves out beside it.
func plain(t *testing.T, e *events.Event) []any {
	t.Helper()
	text, err := json.Marshal(e.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	return []any{string(text), string(e.Data), e.EventID, e.Seq, e.Time, e.Depth, e.ReplayOf, e.AgentNamed}
}
