package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain encodes a record of about size bytes.
func plain(size int) Encoder {
	pad := strings.Repeat("x", size)
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"event","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		dst = append(dst, `,"pad":"`...)
		dst = append(dst, pad...)
		return append(dst, `"}`...)
	}
}

// rec has the members of a record that tests look at.
type rec struct {
	Type     string
	Seq      uint64
	From, To uint64
	Epoch    string
}

func (r rec) String() string {
	switch r.Type {
	case "gap":
		return fmt.Sprintf("gap %d-%d", r.From, r.To)
	case "epoch":
		return fmt.Sprintf("epoch@%d", r.Seq)
	}
	return strconv.FormatUint(r.Seq, 10)
}

func parseRecords(t testing.TB, lines []byte) []rec {
	t.Helper()
	var out []rec
	for line := range bytes.Lines(lines) {
		var r rec
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("record %q: %v", line, err)
		}
		out = append(out, r)
	}
	return out
}

// drain reads all records that are there now.
func drain(t testing.TB, s *Subscription) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var words []string
	for {
		lines, err := s.Next(ctx, nil)
		if err == io.EOF {
			return strings.Join(append(words, "EOF"), " ")
		}
		if errors.Is(err, context.Canceled) {
			return strings.Join(words, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range parseRecords(t, lines) {
			words = append(words, r.String())
		}
	}
}

func ptr(n uint64) *uint64 { return &n }

func TestSubscribeFrom(t *testing.T) {
	tests := []struct {
		name string
		from func(epoch string) From
		want string
	}{
		{"from_now", func(string) From { return From{} }, "epoch@6 7 8"},
		{"since_zero_lapped", func(string) From { return From{Since: ptr(0)} }, "epoch@6 gap 1-4 5 6 7 8"},
		{"since_kept", func(e string) From { return From{Since: ptr(5), Epoch: e} }, "epoch@6 6 7 8"},
		{"since_newest", func(string) From { return From{Since: ptr(6)} }, "epoch@6 7 8"},
		{"since_future", func(string) From { return From{Since: ptr(99)} }, "epoch@6 gap 0-2 3 4 5 6 7 8"},
		{"since_foreign", func(string) From { return From{Since: ptr(5), Epoch: "other"} }, "epoch@6 gap 0-2 3 4 5 6 7 8"},
		{"once", func(string) From { return From{Since: ptr(2), Once: true} }, "epoch@6 gap 3-4 5 6 EOF"},
		{"once_from_now", func(string) From { return From{Once: true} }, "epoch@6 EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := New(Options{Size: 4})
			for range 6 {
				h.Publish("a", plain(1))
			}
			from := tt.from(h.Epoch())
			s := h.Subscribe(nil, from)
			defer s.Close()
			if strings.Contains(tt.want, "gap 0-2") { // read before the ring moves on
				first := drain(t, s)
				h.Publish("a", plain(1))
				h.Publish("a", plain(1))
				if got := first + " " + drain(t, s); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			h.Publish("a", plain(1))
			h.Publish("a", plain(1))
			if got := drain(t, s); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestGlobsSelectByName(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(func(name string) bool { return strings.HasPrefix(name, "agent:") }, From{})
	defer s.Close()
	for _, name := range []string{"agent:start", "session:start", "agent:end", "session:end"} {
		h.Publish(name, plain(1))
	}
	if got, want := drain(t, s), "epoch@0 1 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStoppedSubscriberGetsOneGap(t *testing.T) {
	h := New(Options{Size: 8})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	drain(t, s)
	for range 100 {
		h.Publish("a", plain(1))
	}
	if got, want := drain(t, s), "gap 1-92 93 94 95 96 97 98 99 100"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := h.Stats(); got != (Stats{Seq: 100, Subscribers: 1, Gaps: 1}) {
		t.Errorf("stats %+v", got)
	}
}

func TestRingIsBoundedByBytes(t *testing.T) {
	h := New(Options{MaxBytes: 1000})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	for range 10 {
		h.Publish("a", plain(250)) // 285 bytes with all around it
	}
	if got, want := drain(t, s), "epoch@0 gap 1-7 8 9 10"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	h.Publish("a", plain(100_000))
	if got, want := drain(t, s), "11"; got != want {
		t.Errorf("a record larger than the ring: got %s, want %s", got, want)
	}
	h.Publish("a", plain(1))
	if got, want := drain(t, s), "12"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if h.bytes > 1000 {
		t.Errorf("ring holds %d bytes", h.bytes)
	}
}

func TestNextWaitsAndIsWoken(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	drain(t, s)
	got := make(chan string, 1)
	go func() {
		lines, err := s.Next(t.Context(), nil)
		got <- fmt.Sprint(parseRecords(t, lines), err)
	}()
	hooktest.Until(t, "the hub waits", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.wake != nil })
	h.Publish("a", plain(1))
	if got, want := <-got, "[1] <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNextEndsWithContext(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(func(string) bool { return false }, From{})
	defer s.Close()
	drain(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := s.Next(ctx, nil); done <- err }()
	h.Publish("a", plain(1)) // for others: it goes on waiting
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCloseDrainsThenEOF(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(nil, From{})
	h.Publish("a", plain(1))
	h.Close()
	if got, want := drain(t, s), "epoch@0 1 EOF"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.Close()
	s.Close()
	if n := h.Stats().Subscribers; n != 0 {
		t.Errorf("%d subscribers after Close", n)
	}
	idle := h.Subscribe(nil, From{})
	defer idle.Close()
	if got, want := drain(t, idle), "epoch@1 EOF"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCloseWakesTheIdle(t *testing.T) {
	h := New(Options{})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	drain(t, s)
	done := make(chan error)
	go func() { _, err := s.Next(t.Context(), nil); done <- err }()
	hooktest.Until(t, "the hub waits", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.wake != nil })
	h.Close()
	if err := <-done; err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}

// All subscribers see all numbers in order, each either as a record or in a
// gap, while several publish and one subscriber never reads.
func TestManySubscribersSeeAllInOrder(t *testing.T) {
	const subscribers, publishers, each = 10, 4, 2000
	h := New(Options{})
	stopped := h.Subscribe(nil, From{})
	defer stopped.Close()
	var wg sync.WaitGroup
	for range subscribers {
		s := h.Subscribe(nil, From{})
		wg.Go(func() {
			defer s.Close()
			next := uint64(1)
			var buf []byte
			for {
				var err error
				buf, err = s.Next(t.Context(), buf[:0])
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range parseRecords(t, buf) {
					switch {
					case r.Type == "epoch":
					case r.Type == "gap" && r.From == next:
						next = r.To + 1
					case r.Type == "event" && r.Seq == next:
						next++
					default:
						t.Errorf("got %s, want %d", r, next)
						return
					}
				}
			}
			if next != publishers*each+1 {
				t.Errorf("ended at %d", next)
			}
		})
	}
	var sending sync.WaitGroup
	for range publishers {
		sending.Go(func() {
			for range each {
				h.Publish("a", plain(20))
			}
		})
	}
	sending.Wait()
	h.Close()
	wg.Wait()
}

func TestRecordsAreOneLineOfJSON(t *testing.T) {
	e := &events.Event{
		Envelope: events.Envelope{Event: "agent:end", Data: json.RawMessage("{\n \"a\":\r\n \"b\\n\"\n}"), SessionID: "s\"\n\x1b", AgentName: "naïve", Cwd: "/p", Sender: "uid:0"},
		EventID:  "e1", Time: time.Unix(0, 0), Depth: 2,
	}
	r := &wire.Run{ID: "r1", EventID: "e1", Event: "agent:end", Hook: "h", Result: wire.ResultOK, Stdout: wire.Output{Head: "secret", Bytes: 6}}
	h := New(Options{})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	h.Publish(e.Event, EventRecord(e))
	h.Publish(r.Event, RunRecord(r))
	lines, err := s.Next(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"))
	if len(got) != 3 {
		t.Fatalf("%d lines: %s", len(got), lines)
	}
	var event map[string]any
	if err := json.Unmarshal(got[1], &event); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "event", "seq": 1.0, "event_id": "e1", "event": "agent:end", "time": "1970-01-01T00:00:00Z", "sender": "uid:0",
		"session_id": "s\"\n\x1b", "agent_name": "naïve", "cwd": "/p", "depth": 2.0, "data": map[string]any{"a": "b\n"},
	}
	if fmt.Sprint(event) != fmt.Sprint(want) {
		t.Errorf("event\n got %v\nwant %v", event, want)
	}
	var run struct {
		Type string
		wire.Run
	}
	if err := json.Unmarshal(got[2], &run); err != nil {
		t.Fatal(err)
	}
	if run.Type != "run" || run.Seq != 2 || run.ID != "r1" || run.Stdout != (wire.Output{Bytes: 6}) {
		t.Errorf("run %s", got[2])
	}
	if r.Stdout.Head != "secret" {
		t.Error("RunRecord changed the run")
	}
}

func TestEpochsDiffer(t *testing.T) {
	if a, b := New(Options{}).Epoch(), New(Options{}).Epoch(); a == b || a == "" {
		t.Errorf("epochs %q and %q", a, b)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{0, 10} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			h := New(Options{})
			var wg sync.WaitGroup
			var mu sync.Mutex
			delivered := 0
			for range subscribers {
				s := h.Subscribe(func(string) bool { return true }, From{})
				wg.Go(func() {
					defer s.Close()
					var buf []byte
					n := 0
					for {
						var err error
						if buf, err = s.Next(b.Context(), buf[:0]); err != nil {
							break
						}
						n += bytes.Count(buf, []byte("\n"))
					}
					mu.Lock()
					defer mu.Unlock()
					delivered += n
				})
			}
			encode := plain(220)
			b.ReportAllocs()
			for b.Loop() {
				h.Publish("agent:end", encode)
			}
			b.StopTimer()
			h.Close()
			wg.Wait()
			if subscribers > 0 {
				b.ReportMetric(float64(delivered)/b.Elapsed().Seconds(), "deliveries/s")
			}
		})
	}
}

// A large record is read in pieces, which make the same line as a record that was
// encoded as a whole; a subscriber that does not want it does not get any.
func TestLargeRecord(t *testing.T) {
	h := New(Options{})
	e := &events.Event{Envelope: events.Envelope{Event: "agent:step"}, EventID: "01", Time: time.Unix(1, 0)}
	e.Data = []byte("{\"text\":\"" + strings.Repeat("x", 5*batchBytes+7) + "\",\r\n \"n\":1}")
	all, none := h.Subscribe(nil, From{}), h.Subscribe(func(string) bool { return false }, From{})
	defer all.Close()
	defer none.Close()
	h.Publish("a", plain(1))
	h.PublishLarge("agent:step", EventHead(e), EventData(e.Data))
	h.Publish("a", plain(1))
	whole := string(oneLine(EventRecord(e)(2, nil)))
	h.Close()
	var got []byte
	for calls := 0; ; calls++ {
		had := len(got)
		var err error
		if got, err = all.Next(t.Context(), got); err == io.EOF {
			break
		}
		if err != nil || len(got)-had > 2*batchBytes {
			t.Fatalf("call %d gave %d bytes, %v", calls, len(got)-had, err)
		}
	}
	lines := strings.SplitAfter(string(got), "\n")
	if len(lines) != 5 || lines[2] != whole {
		t.Errorf("got %d lines, the large one has %d bytes, want %d", len(lines), len(lines[2]), len(whole))
	}
	if line, err := none.Next(t.Context(), nil); err != nil || strings.Contains(string(line), "agent:step") {
		t.Errorf("a subscriber that wants none got %.80q, %v", line, err)
	}
}

// Records that the ring has dropped take no memory, also where a subscriber has read half of a
// record.
func TestCutInALargeRecord(t *testing.T) {
	h := New(Options{MaxBytes: 1 << 20})
	e := &events.Event{Envelope: events.Envelope{Event: "agent:step"}, EventID: "01", Time: time.Unix(1, 0)}
	data := []byte("{\"text\":\"" + strings.Repeat("x", 1<<20) + "\"}")
	sub := h.Subscribe(nil, From{})
	defer sub.Close()
	h.PublishLarge("agent:step", EventHead(e), data)
	for range 2 { // hello comes alone
		if _, err := sub.Next(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	h.PublishLarge("agent:step", EventHead(e), data)
	if _, err := sub.Next(t.Context(), nil); err != errCut {
		t.Errorf("half a record ended with %v", err)
	}
}

// slowArchive answers only when it has been asked often enough: each time
// before, the caller's time runs out.
type slowArchive struct{ refuse int }

func (a *slowArchive) Since(ctx context.Context, after, upto uint64) ([]Archived, uint64, error) {
	if a.refuse--; a.refuse >= 0 {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	through := min(after+10, upto)
	var list []Archived
	for seq := after + 1; seq <= through; seq++ {
		list = append(list, Archived{Seq: seq, Name: map[bool]string{true: "rare", false: "common"}[seq == 95], Encode: plain(1)})
	}
	return list, through, nil
}

// A long search for matching records is no gap, and finds them.
func TestLookingForLongIsNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Size: 1, Archive: &slowArchive{refuse: 5}})
		for range 100 {
			h.Publish("common", plain(1))
		}
		since := uint64(0)
		sub := h.Subscribe(func(name string) bool { return name == "rare" }, From{Since: &since})
		defer sub.Close()
		var got []byte
		for pings := 0; ; {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			var err error
			got, err = sub.Next(ctx, got)
			cancel()
			if recs := parseRecords(t, got); len(recs) == 2 {
				if recs[1].Seq != 95 || pings != 5 {
					t.Errorf("after %d pings got %v", pings, recs)
				}
				return
			}
			if err != nil {
				if pings++; err != context.DeadlineExceeded || pings > 5 {
					t.Fatalf("got %s, %v", got, err)
				}
			}
		}
	})
}

// A large record of the archive is one for all: a subscriber that reads it holds up subscribers that
// come after, but not by stopping.
func TestStoppedReaderOfTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Size: 1, Archive: largeArchive{}})
		for range 3 {
			h.Publish("a", plain(1))
		}
		since := uint64(0)
		stopped, other := h.Subscribe(nil, From{Since: &since}), h.Subscribe(nil, From{Since: &since, Once: true})
		defer stopped.Close()
		defer other.Close()
		if _, err := stopped.Next(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		var got []byte
		for err := error(nil); err == nil; {
			got, err = other.Next(t.Context(), got)
		}
		if recs := parseRecords(t, got); len(recs) != 4 || time.Since(begin) != stallTime {
			t.Errorf("after %s got %v", time.Since(begin), recs)
		}
		if _, err := stopped.Next(t.Context(), nil); err != errCut {
			t.Errorf("the stopped one got %v", err)
		}
	})
}

type largeArchive struct{}

func (largeArchive) Since(_ context.Context, after, upto uint64) ([]Archived, uint64, error) {
	e := &events.Event{Envelope: events.Envelope{Event: "a"}, EventID: "01", Time: time.Unix(1, 0)}
	return []Archived{{Seq: after + 1, Name: "a", Encode: EventHead(e), Data: []byte(`{"t":"` + strings.Repeat("x", 1<<20) + `"}`)}}, after + 1, nil
}

// mixedArchive answers with large events that have other records around them.
type mixedArchive struct{}

func (mixedArchive) Since(_ context.Context, after, upto uint64) (list []Archived, through uint64, err error) {
	e := &events.Event{Envelope: events.Envelope{Event: "a"}, EventID: "1", Time: time.Unix(0, 0).UTC()}
	for seq := after + 1; seq <= upto && len(list) < 5; seq++ {
		p := Archived{Seq: seq, Name: "a", Encode: plain(1)}
		switch seq % 4 {
		case 1:
			p.Encode, p.Data = EventHead(e), []byte(`{"t":"`+strings.Repeat("x", 2*batchBytes)+`"}`)
		case 3:
			p = Archived{Seq: seq, Missing: seq}
		}
		list = append(list, p)
	}
	return list, after + uint64(len(list)), nil
}

// Each record of the archive is whole, and they come in order, also behind a large one.
func TestRecordsBehindALargeOne(t *testing.T) {
	const n = 20
	h := New(Options{Size: 1, First: n, Archive: mixedArchive{}})
	h.Publish("a", plain(1))
	since := uint64(0)
	s := h.Subscribe(nil, From{Since: &since, Once: true})
	defer s.Close()
	var text []byte
	var err error
	for err == nil {
		text, err = s.Next(t.Context(), text)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	next := uint64(1)
	for line := range bytes.Lines(text) {
		var r struct {
			Type          string
			Seq, From, To uint64
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("record %.100q…: %v", line, err)
		}
		if r.Type == "epoch" {
			continue
		}
		if max(r.Seq, r.From) != next {
			t.Fatalf("record %.100q… comes where %d should", line, next)
		}
		next = max(r.Seq, r.To) + 1
	}
	if next != n+1 {
		t.Errorf("the last number is %d, want %d", next-1, n)
	}
}

// The tool and subject of an event that was published without them are in its record when it is
// read, of large events and small ones; one look is enough for a record that has them.
func TestUnreadEventsAreLookedUp(t *testing.T) {
	h := New(Options{About: func(e *events.Event) {
		var data struct{ Text string }
		if err := json.Unmarshal(e.Data, &data); err != nil || e.Contract == nil || e.Envelope.Event != "PreToolUse" {
			t.Errorf("asked about %+v: %v", e, err)
		}
		e.Tool, e.Subject = string(e.Dialect), fmt.Sprint(len(data.Text), " bytes, \"data\":")
	}})
	want := []string{}
	for _, size := range []int{3, 5 << 10, LargeData + 7, 3 * batchBytes} {
		for _, unread := range []bool{true, false} {
			e := &events.Event{Unread: unread, EventID: "e", Contract: &events.Contract{}, Time: time.Unix(0, 0)}
			e.Envelope.Event, e.Dialect, e.Cwd = "PreToolUse", events.Codex, `/,"data":{`
			e.Data = json.RawMessage("{\n" + `"text":"` + strings.Repeat("x", size) + `"}` + "\n")
			var large []byte
			if size > LargeData {
				large = EventData(e.Data)
			}
			if !unread {
				e.Tool, e.Subject = "Write", "known"
				want = append(want, "Write known")
			} else {
				want = append(want, fmt.Sprintf("codex %d bytes, \"data\":", size))
			}
			h.PublishEvent(e, large)
		}
	}
	since := uint64(0)
	s := h.Subscribe(nil, From{Since: &since, Once: true})
	defer s.Close()
	var text []byte
	for err := error(nil); err == nil; {
		text, err = s.Next(t.Context(), text)
	}
	var got []string
	for line := range bytes.Lines(text) {
		var r struct {
			Type, Tool, Subject string
			Data                struct{ Text string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		if r.Type == "event" {
			got = append(got, r.Tool+" "+r.Subject)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
