package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// full sets every field of a struct to something that is not zero.
func full(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Now().UTC().Truncate(0)))
			return
		}
		for i := range v.NumField() {
			full(t, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			full(t, v.Index(i))
		}
	case reflect.String:
		v.SetString("x" + v.String() + fmt.Sprint(rand.IntN(1000)))
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rand.Int64N(1000))
	case reflect.Uint64:
		v.SetUint(1 + rand.Uint64N(1000))
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("a field of kind %v: teach the store and this test about it", v.Kind())
	}
}

func TestRunComesBackWhole(t *testing.T) {
	s := open(t, options(t))
	var want wire.Run
	full(t, reflect.ValueOf(&want).Elem())
	want.ID, want.Seq = strings.ToUpper(want.ID), 1
	want.Stdout.Head = "not \xff text\x00"
	s.Record(&want)
	flush(t, s)
	got, err := s.Run(t.Context(), want.ID)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v %v\nwant %+v", got, err, want)
	}
	page, err := s.Runs(t.Context(), wire.RunQuery{Test: true})
	want.Stdout.Head, want.Stdout.Tail, want.Stderr.Head, want.Stderr.Tail = "", "", "", ""
	if err != nil || len(page.Runs) != 1 || !reflect.DeepEqual(page.Runs[0], want) {
		t.Errorf("in a page: got %+v %v\nwant %+v", page.Runs, err, want)
	}
}

func TestRunByPrefix(t *testing.T) {
	s := open(t, options(t))
	for i, id := range []string{"01ABC", "01ABCD", "01XYZ"} {
		s.Record(&wire.Run{ID: id, Seq: uint64(i + 1), Result: wire.ResultOK, Started: time.Now()})
	}
	flush(t, s)
	for prefix, want := range map[string]any{
		"01x": "01XYZ", "01ABC": "01ABC", "01ABCD": "01ABCD", "01A": ErrAmbiguous, "": ErrNotFound, "02": ErrNotFound, "01XYZ0": ErrNotFound,
	} {
		got, err := s.Run(t.Context(), prefix)
		if id, ok := want.(string); ok && (err != nil || got.ID != id) {
			t.Errorf("%q: got %s %v, want %s", prefix, got.ID, err, id)
		}
		if e, ok := want.(error); ok && !errors.Is(err, e) {
			t.Errorf("%q: got %s %v, want %v", prefix, got.ID, err, e)
		}
	}
}

func TestPayloadPolicy(t *testing.T) {
	t.Parallel()
	small, large := `{"k":"hush"}`, `{"k":"hush","t":"`+strings.Repeat("é", 3000)+`"}`
	parts := `{"k":"hush","t":"` + strings.Repeat("é", pieceBytes) + `","end":"hush"}`
	redact := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "hush", "[secret]")) }
	clean := func(s string) string { return strings.ReplaceAll(s, "hush", "[secret]") }
	tests := []struct {
		name     string
		payload  Payload
		redact   func([]byte) []byte
		data     string
		whole    string // "" = not whole
		preview  string
		redacted bool
	}{
		{"none", PayloadNone, nil, small, "", "", false},
		{"none_redacted", PayloadNone, redact, large, "", "", false},
		{"preview_small", PayloadPreview, nil, small, small, "", false},
		{"preview_large", "", nil, large, "", large[:2047], false},
		{"preview_small_redacted", PayloadPreview, redact, small, clean(small), "", true},
		{"preview_large_redacted", PayloadPreview, redact, large, "", clean(large)[:2047], true},
		{"full_small", PayloadFull, nil, small, small, "", false},
		{"full_large", PayloadFull, nil, large, large, "", false},
		{"full_large_redacted", PayloadFull, redact, large, clean(large), "", true},
		{"none_parts", PayloadNone, redact, parts, "", "", false},
		{"preview_parts", PayloadPreview, nil, parts, "", parts[:2047], false},
		{"preview_parts_redacted", PayloadPreview, redact, parts, "", clean(parts)[:2047], true},
		{"full_parts", PayloadFull, nil, parts, parts, "", false},
		{"full_parts_redacted", PayloadFull, redact, parts, clean(parts), "", true},
		{"full_no_data", PayloadFull, redact, "", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			o.Limits = Limits{Payload: tt.payload, Redact: tt.redact}
			s := open(t, o)
			check := func(when string, e *events.Event) {
				t.Helper()
				got, err := s.Event(t.Context(), e.EventID[:25])
				if err != nil {
					got, err = s.Event(t.Context(), e.EventID) // its neighbour's id begins so too
				}
				if err != nil || string(got.Data) != tt.whole || got.Preview != tt.preview || got.Size != len(tt.data) || got.Redacted != tt.redacted || got.Whole != (tt.whole != "" || tt.data == "") {
					t.Errorf("%s: got %v, %d bytes %.300q, %+v", when, err, len(got.Data), got.Data, got.Preview)
				}
			}
			waiting, noted := event(1, "agent:end", tt.data), event(2, "agent:end", tt.data)
			accept(t, s, waiting, "a", "b")
			s.Note(noted, nil)
			s.Done(events.PendingKey{Seq: 1, Hook: "a"}, run(3, waiting, "a", wire.ResultOK))
			closed(t, s)
			s = open(t, o)
			check("pending", waiting)
			check("noted", noted)
			page, err := s.Pending(t.Context(), 0, 10)
			if err != nil || len(page) != 1 || string(page[0].Event.Data) != tt.data {
				t.Errorf("got %+v %v, want all of the data for the hook", page, err)
			}
			s.Done(events.PendingKey{Seq: 1, Hook: "b"}, run(4, waiting, "b", wire.ResultOK))
			flush(t, s)
			check("ended", waiting)
			var left int
			if err := s.db.reading.QueryRow(`SELECT (SELECT count(*) FROM events WHERE instr(data, CAST('hush' AS BLOB)) OR instr(later_data, CAST('hush' AS BLOB)))
				+ (SELECT count(*) FROM parts WHERE instr(data, CAST('hush' AS BLOB)))`).Scan(&left); err != nil || left != 0 && tt.redact != nil {
				t.Errorf("%d secrets are left (%v)", left, err)
			}
			for _, e := range []*events.Event{waiting, noted} {
				if err := s.do(t.Context(), func(db *database) error { return s.deleteEvent(db, e.Seq) }); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.db.reading.QueryRow(`SELECT count(*) FROM parts`).Scan(&left); err != nil || left != 0 {
				t.Errorf("%d parts are left (%v)", left, err)
			}
		})
	}
}

// The payload of an event is looked through once, and again for its runs only
// where it has something to hide or other limits are in force.
func TestInputIsRedactedUnlessKnownToBeClean(t *testing.T) {
	looked := 0
	hide := func(secret string) Limits {
		return Limits{Redact: func(text []byte) []byte {
			looked++
			return []byte(strings.ReplaceAll(string(text), secret, "***"))
		}}
	}
	o := options(t)
	o.Limits = hide("hush")
	s := open(t, o)
	input := func(seq uint64, data string, then *Limits) string {
		t.Helper()
		e := event(seq, "agent:end", data)
		accept(t, s, e, "a")
		if then != nil {
			s.Configure(*then)
		}
		r := run(seq+1, e, "a", wire.ResultOK)
		r.Input = data
		s.Done(events.PendingKey{Seq: seq, Hook: "a"}, r)
		flush(t, s)
		got, err := s.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.Input
	}
	if got := input(1, `{"a":"clean"}`, nil); got != `{"a":"clean"}` || looked != 1 {
		t.Errorf("got %s, looked through %d times, want once", got, looked)
	}
	if got := input(3, `{"a":"hush"}`, nil); got != `{"a":"***"}` {
		t.Errorf("got %s with a secret", got)
	}
	stricter := hide("shy")
	if got := input(5, `{"a":"shy"}`, &stricter); got != `{"a":"***"}` {
		t.Errorf("got %s, which the limits of today hide", got)
	}
}

func TestOutputIsRedactedAndInputFollowsPolicy(t *testing.T) {
	o := options(t)
	o.Limits = Limits{Payload: PayloadNone, Redact: func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "hush", "***")) }}
	s := open(t, o)
	r := wire.Run{ID: "R", Seq: 1, Started: time.Now(), Input: "hush", Stdout: wire.Output{Head: "a hush", Bytes: 6}, Stderr: wire.Output{Head: "b", Tail: "hush", Bytes: 900}}
	was := r
	s.Record(&r)
	flush(t, s)
	if r != was {
		t.Errorf("the run is %+v now, want it as it was: %+v", r, was)
	}
	got, err := s.Run(t.Context(), "R")
	if err != nil || got.Input != "" || got.Stdout != (wire.Output{Head: "a ***", Bytes: 6}) || got.Stderr != (wire.Output{Head: "b", Tail: "***", Bytes: 900}) {
		t.Errorf("got %+v %v", got, err)
	}
}

// history records n runs over the time before now, with numbers far apart, and
// returns them newest first.
func history(t *testing.T, s *Store, n int, span time.Duration) []wire.Run {
	t.Helper()
	begin := time.Now().Add(-span)
	pick := func(words ...string) string { return words[rand.IntN(len(words))] }
	results := []wire.Result{wire.ResultOK, wire.ResultOK, wire.ResultOK, wire.ResultDeny, wire.ResultFailed, wire.ResultTimeout, wire.ResultSpawnError}
	var all []wire.Run
	for i := range n {
		started := begin.Add(span / time.Duration(n) * time.Duration(i)).UTC()
		r := wire.Run{
			ID: events.NewRunID(started), Seq: uint64(i*997 + 1), EventID: "E", Event: pick("agent:end", "agent:start", "session:reset"),
			Hook: pick("a", "b", "c", "rare", "a", "b"), SessionID: pick("", "s1", "s2"), AgentID: pick("", "ag1", "both"), AgentName: pick("", "name", "both", "codex"),
			Dialect: events.Dialect(pick("", "codex", "claude-code")),
			Result:  results[rand.IntN(len(results))], Started: started, DurationMS: math.Exp(rand.NormFloat64()*1.5 + 2),
		}
		s.Record(&r)
		all = append(all, r)
		if i%500 == 0 {
			flush(t, s) // the backlog of records is bounded
		}
	}
	flush(t, s)
	slices.Reverse(all)
	return all
}

func TestQueriesAgainstAllRuns(t *testing.T) {
	s := open(t, options(t))
	all := history(t, s, 1500, 24*time.Hour)
	now := time.Now()
	queries := []wire.RunQuery{
		{}, {Limit: 7}, {Hook: "a"}, {Hook: "rare", Limit: 3}, {Hook: "none"}, {Event: "session:reset"}, {Session: "s2"}, {Agent: "both"}, {Agent: "name", Limit: 9},
		{Agent: "codex"}, {Agent: "claude-code", Hook: "rare", Limit: 4},
		{Agent: "ag1", Result: wire.ResultFailed}, {Result: wire.ResultOK}, {Result: wire.ResultTimeout, Hook: "b"}, {Session: "s1", Agent: "both", Hook: "a", Event: "agent:end", Result: wire.ResultDeny},
		{Since: now.Add(-time.Hour)}, {Until: now.Add(-20 * time.Hour)}, {Since: now.Add(-5 * time.Hour), Until: now.Add(-4 * time.Hour), Hook: "a"}, {Since: now.Add(time.Hour)},
	}
	for _, q := range queries {
		t.Run(strings.ReplaceAll(fmt.Sprintf("%+v", q), " ", "_"), func(t *testing.T) {
			var want []uint64
			for _, r := range all {
				is := func(want, got string) bool { return want == "" || want == got }
				if is(q.Hook, r.Hook) && is(q.Event, r.Event) && is(q.Session, r.SessionID) && is(string(q.Result), string(r.Result)) &&
					(q.Agent == "" || q.Agent == r.AgentID || q.Agent == r.AgentName || q.Agent == string(r.Dialect)) && !r.Started.Before(q.Since) && (q.Until.IsZero() || r.Started.Before(q.Until)) {
					want = append(want, r.Seq)
				}
			}
			var got []uint64
			for next := q; ; {
				page, err := s.Runs(t.Context(), next)
				if err != nil {
					t.Fatal(err)
				}
				limit := q.Limit
				if limit == 0 {
					limit = 50
				}
				if len(page.Runs) > limit {
					t.Fatalf("%d runs, want %d at most", len(page.Runs), limit)
				}
				for _, r := range page.Runs {
					got = append(got, r.Seq)
				}
				if next.Before = page.Next; page.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %d runs, want %d", len(got), len(want))
			}
		})
	}
}

func TestQueriesUseTheirIndex(t *testing.T) {
	s := open(t, options(t))
	accept(t, s, event(1, "agent:end", `{}`))
	for index, where := range map[string]string{
		"runs_session": "session_id = 'x' AND session_id <> ''", "runs_agent_id": "agent_id = 'x' AND agent_id <> ''",
		"runs_agent_name": "agent_name = 'x' AND agent_name <> ''", "runs_result": "result = 'failed' AND result <> 'ok'", "runs_hook": "hook = 'x'", "runs_event": "event = 'x'",
	} {
		plan, err := list(t.Context(), s.db.reading, func(row scanner) (text string, err error) {
			var a, b, c int
			return text, row.Scan(&a, &b, &c, &text)
		}, `EXPLAIN QUERY PLAN SELECT seq FROM runs INDEXED BY `+index+` WHERE seq >= 1 AND seq < 9 AND `+where+` ORDER BY seq DESC`)
		if text := strings.Join(plan, "; "); err != nil || !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") || !strings.Contains(text, "rowid<") {
			t.Errorf("%s: plan %q %v, want an ordered range of the index", index, text, err)
		}
	}
}

func TestPercentilesAreWithinFivePercent(t *testing.T) {
	for name, draw := range map[string]func() float64{
		"log_normal": func() float64 { return math.Exp(rand.NormFloat64()*2 + 9) }, // µs
		"uniform":    func() float64 { return 1000 + rand.Float64()*1e6 },
		"two_humps": func() float64 {
			if rand.IntN(10) == 0 {
				return 5e6 + rand.Float64()*1e5
			}
			return 2000 + rand.Float64()*100
		},
		"constant": func() float64 { return 123_456 },
	} {
		t.Run(name, func(t *testing.T) {
			var h, half histogram
			var all []time.Duration
			for i := range 20_001 {
				d := time.Duration(draw() * float64(time.Microsecond))
				all = append(all, d)
				if i%2 == 0 {
					h.add(d)
				} else {
					half.add(d)
				}
			}
			var stored histogram
			if err := stored.decode(half.encode()); err != nil {
				t.Fatal(err)
			}
			h.merge(&stored)
			slices.Sort(all)
			for _, p := range []float64{0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
				want := all[int(math.Ceil(p*float64(len(all))))-1]
				got := h.percentile(p)
				if off := math.Abs(float64(got)/float64(want) - 1); off > 0.05 {
					t.Errorf("p%v: got %v, want %v within 5 %%", p*100, got, want)
				}
			}
		})
	}
}

func TestHistogramEnds(t *testing.T) {
	var h histogram
	if got := h.percentile(0.5); got != 0 {
		t.Errorf("nothing: got %v", got)
	}
	h.add(0)
	h.add(100 * time.Hour)
	if low, high := h.percentile(0.5), h.percentile(1); low != 0 || high < time.Hour/2 {
		t.Errorf("got %v and %v", low, high)
	}
	for _, bad := range [][]byte{{1}, {0xff}, {255, 255, 255, 255, 15, 1}, {0, 255, 255, 255, 255, 255, 1}} {
		if err := new(histogram).decode(bad); !errors.Is(err, errCorrupt) {
			t.Errorf("%v: got %v, want %v", bad, err, errCorrupt)
		}
	}
}

// A run that the end of hookd interrupted is no failure of its hook.
func TestAnInterruptedRunIsNoFailure(t *testing.T) {
	var sp span
	sp.count(&wire.Run{Result: wire.ResultInterrupted})
	sp.count(&wire.Run{Result: wire.ResultSpawnError})
	if sp.runs != 2 || sp.failures != 1 {
		t.Errorf("got %d runs, %d failures, want 2, 1", sp.runs, sp.failures)
	}
}

func TestStatsAgainstAllRuns(t *testing.T) {
	o := options(t)
	s := open(t, o)
	all := history(t, s, 1500, 20*24*time.Hour)
	closed(t, s)
	s = open(t, o) // the counts go on from what is on disk
	more := wire.Run{ID: "L", Seq: 10_000_000, Hook: "a", Result: wire.ResultOK, Started: time.Now(), DurationMS: 3}
	s.Record(&more)
	flush(t, s)
	all = append(all, more)

	now := time.Now()
	queries := []wire.StatsQuery{
		{}, {Hook: "rare"}, {Since: now.Add(-30 * time.Minute)}, {Since: now.Add(-100 * time.Hour)},
		{Until: now.Add(-100 * time.Hour)}, {Since: now.Add(-200 * time.Hour), Until: now.Add(-197 * time.Hour)},
		{Until: now.Add(-50 * time.Hour).Truncate(time.Hour).Add(time.Millisecond)},
	}
	for range 20 {
		since := now.Add(-time.Duration(rand.Int64N(int64(20 * 24 * time.Hour))))
		queries = append(queries, wire.StatsQuery{Since: since, Until: since.Add(time.Duration(rand.Int64N(int64(72 * time.Hour))))})
	}
	for _, q := range queries {
		got, err := s.Stats(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := exactStats(all, q)
		if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b Stats) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%+v: got %+v, want %d hooks in order", q, got, len(want))
		}
		for _, g := range got {
			w := want[g.Name]
			if g.Runs != w.Runs || g.Failures != w.Failures || g.Denied != w.Denied || math.Abs(float64(g.P50)-float64(w.P50)) > 0.05*float64(w.P50) || math.Abs(float64(g.P99)-float64(w.P99)) > 0.05*float64(w.P99) {
				t.Errorf("%+v: got %+v, want %+v", q, g, w)
			}
		}
	}
}

func exactStats(all []wire.Run, q wire.StatsQuery) map[string]Stats {
	durations, want := map[string][]time.Duration{}, map[string]Stats{}
	for _, r := range all {
		ended := r.Started.Add(time.Duration(r.DurationMS * float64(time.Millisecond)))
		until := q.Until.Add(time.Hour - 1).Truncate(time.Hour)
		if q.Hook != "" && q.Hook != r.Hook || ended.Before(q.Since.Truncate(time.Hour)) || !q.Until.IsZero() && q.Until.Before(time.Now()) && !ended.Before(until) {
			continue
		}
		w := want[r.Hook]
		w.Runs++
		switch r.Result {
		case wire.ResultDeny:
			w.Denied++
		case wire.ResultFailed, wire.ResultTimeout, wire.ResultSpawnError:
			w.Failures++
		}
		if r.Result != wire.ResultSpawnError {
			durations[r.Hook] = append(durations[r.Hook], time.Duration(r.DurationMS*float64(time.Millisecond)))
		}
		want[r.Hook] = w
	}
	for hook, list := range durations {
		slices.Sort(list)
		w := want[hook]
		w.P50, w.P99 = list[(len(list)+1)/2-1], list[int(math.Ceil(0.99*float64(len(list))))-1]
		want[hook] = w
	}
	return want
}

func TestSinceReadsTheStreamInOrder(t *testing.T) {
	o := options(t)
	s := open(t, o)
	var want []string
	for i := uint64(1); i <= 60; i += 3 {
		e := event(i, "agent:end", `{"n":1}`)
		accept(t, s, e, "a")
		s.Done(events.PendingKey{Seq: i, Hook: "a"}, run(i+2, e, "a", wire.ResultOK))
		want = append(want, fmt.Sprint("event ", i), fmt.Sprint("run ", i+2))
	}
	flush(t, s)
	var got []string
	for after := uint64(0); after < 60; {
		feed, err := s.Since(t.Context(), after, 60, 7, 1<<20)
		if err != nil || feed.Through <= after {
			t.Fatal(feed, err)
		}
		after = feed.Through
		for _, r := range feed.Records {
			switch {
			case r.Event != nil && r.Event.Seq == r.Seq && string(r.Event.Data) == `{"n":1}`:
				got = append(got, fmt.Sprint("event ", r.Seq))
			case r.Run != nil && r.Run.Seq == r.Seq:
				got = append(got, fmt.Sprint("run ", r.Seq))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if feed, err := s.Since(t.Context(), 10, 13, 100, 1<<20); err != nil || len(feed.Records) != 2 || feed.Records[0].Seq != 12 {
		t.Errorf("11 to 13: got %+v %v", feed, err)
	}
}

// The last event of an agent is no replay, not of the session that asks, and not tried by a person.
func TestLastEventOfAnAgent(t *testing.T) {
	s := open(t, options(t))
	if _, err := s.Last(t.Context(), events.Cline, "probe"); !errors.Is(err, ErrNotFound) {
		t.Errorf("of none: got %v, want %v", err, ErrNotFound)
	}
	var want string
	for i, of := range []struct {
		d               events.Dialect
		session, replay string
	}{{events.Cline, "", ""}, {events.Cline, "one", ""}, {events.Cline, "one", "01J"}, {events.Cline, "probe", ""}, {events.Codex, "two", ""}, {events.Cline, "tried", ""}} {
		e := event(s.FirstSeq()+uint64(i), "PreToolUse", `{"dialect":"cline"}`)
		e.Dialect, e.SessionID, e.ReplayOf = of.d, of.session, of.replay
		e.Tried = of.session == "tried"
		s.Note(e, nil)
		if i == 1 {
			want = e.EventID
		}
	}
	flush(t, s)
	if e, err := s.Last(t.Context(), events.Cline, "probe"); err != nil || e.EventID != want {
		t.Errorf("got %+v %v, want %s", e, err, want)
	}
}
