package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The counts are the same as from looking at each decision, in
// however many parts.
func TestCountsOfDecisions(t *testing.T) {
	s := open(t, options(t))
	begin := time.Now().Add(-48 * time.Hour).UTC().Truncate(time.Hour)
	pick := func(list ...string) string { return list[rand.N(len(list))] }
	var all []wire.Decision
	for i := range 400 {
		d := decision(uint64(2*i+2), begin.Add(time.Duration(i)*5*time.Minute))
		d.SessionID, d.Tool, d.AgentName = pick("", "s1", "s2"), pick("", "Bash", "Write"), pick("", "ci")
		d.Dialect, d.Subject, d.Reason = events.Dialect(pick("claude-code", "codex")), pick("ls -l", "git push"), pick("", "no sudo")
		d.Decision = wire.Outcome(pick("deny", "ask", "allow", "none"))
		if rand.N(2) == 0 {
			d.DecidedBy = []string{pick("guard", "other"), "third"}
		}
		if rand.N(3) == 0 {
			d.Rewrote = []string{"input"}
		} else if rand.N(3) == 0 {
			d.Shadow = []wire.Shadowed{{Hook: "shady", Decision: wire.OutcomeDeny, Rewrote: []string{"input"}}}
		}
		d.Tried, d.Guarded = rand.N(5) == 0, wire.Guarded(pick("", "asked", "disobeyed", "not asked"))
		all = append(all, *d)
		s.Decided(d)
	}
	flush(t, s)
	for _, q := range []wire.DecisionQuery{
		{}, {Tool: "Bash"}, {Decision: "deny,ask"}, {Text: "push"}, {Agent: "ci", Hook: "guard"},
		{Since: begin.Add(3 * time.Hour), Until: begin.Add(20 * time.Hour)}, {Session: "s1", Before: 333}, {Tool: "none such"},
	} {
		got, err := s.CountDecisions(t.Context(), q, time.Hour)
		for err == nil && got.Next != 0 {
			t.Fatalf("%+v: 400 decisions were not counted at once", q)
		}
		want := newTally(time.Hour)
		for _, d := range all {
			if fits(q, d) {
				agent := d.AgentName
				if agent == "" {
					agent = string(d.Dialect)
				}
				start := d.Time.Truncate(time.Hour).UnixNano()
				want.count(alike{start, string(d.Decision), agent, d.Tool, strings.Join(d.Hooks(), "\n"), d.SessionID, d.Words()[0], d.Guarded, d.Rewrote != nil, d.Tried, 1})
			}
		}
		if err != nil || !reflect.DeepEqual(got, want.done()) {
			t.Errorf("%+v:\ngot  %+v %v\nwant %+v", q, got, err, want.done())
		}
	}
	whole, err := s.CountDecisions(t.Context(), wire.DecisionQuery{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range wire.Outcomes() { // a word counts the decisions that it finds
		found, err := s.CountDecisions(t.Context(), wire.DecisionQuery{Decision: string(word)}, 0)
		var counted int64
		for _, c := range whole.Decisions {
			if c.Name == string(word) {
				counted = c.Count
			}
		}
		if err != nil || counted != found.Total {
			t.Errorf("%s: %d are counted, %d found, %v", word, counted, found.Total, err)
		}
	}
}

// A denial that was not obeyed counts as a denial of its time, and as disobeyed.
func TestADisobeyedDenialIsADenialOfItsTime(t *testing.T) {
	all := newTally(time.Hour)
	all.count(alike{decision: "deny", said: wire.OutcomeDeny, guarded: wire.GuardedDisobeyed, count: 1})
	if b := all.done().Buckets[0]; b.Deny != 1 || b.Disobeyed != 1 {
		t.Errorf("got %+v, want one denial, disobeyed", b)
	}
}

// Counting looks at parts by their numbers or by an index.
func TestCountsUseTheIndex(t *testing.T) {
	s := open(t, options(t))
	accept(t, s, event(1, "pre_tool_use", `{}`))
	for want, q := range map[string]wire.DecisionQuery{
		"SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)":                      {},
		"SEARCH d USING INDEX decisions_tool (tool=? AND rowid>? AND rowid<?)":          {Tool: "Bash"},
		"SEARCH d USING INDEX decisions_session (session_id=? AND rowid>? AND rowid<?)": {Session: "s"},
	} {
		text, args := decisionQuery(q).sql("d.at AS start", 1, 9, 9)
		plan, err := list(t.Context(), s.db.reading, func(row scanner) (text string, err error) {
			var a, b, c int
			return text, row.Scan(&a, &b, &c, &text)
		}, `EXPLAIN QUERY PLAN SELECT start, count(*) FROM (`+text+`) GROUP BY start`, args...)
		if got := strings.Join(plan, "; "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%+v: plan %q %v, want %q", q, got, err, want)
		}
	}
}

func TestTheMostFrequentAreCountedByName(t *testing.T) {
	counts := map[string]int64{"": 7, "b": 1}
	for i := range 80 {
		counts[fmt.Sprintf("a%02d", i)] = int64(100 - i)
	}
	got := most(counts)
	var sum int64
	for _, c := range got {
		sum += c.Count
	}
	if len(got) != mostCounted || got[0] != (wire.Count{Name: "a00", Count: 100}) || got[mostCounted-1].Name != otherNames || sum != 80*100-79*80/2+1 {
		t.Errorf("got %v, together %d", got, sum)
	}
}

// A query finds the events that it asks for, without their data.
func TestAcceptedEvents(t *testing.T) {
	s := open(t, options(t))
	var all []*events.Event
	for i := range 60 {
		e := event(uint64(i+1), []string{"agent:start", "pre_tool_use"}[i%2], `{"a":1}`)
		e.Time = time.Now().Add(time.Duration(i-100) * time.Minute).UTC()
		e.SessionID, e.AgentID, e.Cwd = []string{"", "s1", "s2"}[i%3], []string{"", "a"}[i%2], []string{"/w", "/w/x", "/world"}[i%3]
		e.Tool, e.Subject = []string{"", "Bash"}[i%2], []string{"make TEST", "ls"}[i%2]
		all = append(all, e)
		accept(t, s, e)
	}
	flush(t, s)
	for _, q := range []wire.EventQuery{
		{Limit: 100}, {Session: "s1"}, {Session: "none"}, {Event: "agent:start"}, {Tool: "Bash", Session: "s2"}, {Agent: "a"}, {Cwd: "/w"},
		{Text: "test"}, {Since: all[20].Time, Until: all[40].Time}, {Before: 20, Limit: 5},
	} {
		page, err := s.Events(t.Context(), q)
		var got, want []uint64
		for _, e := range page.Events {
			got = append(got, e.Seq)
			if e.Data != nil || e.Size != 7 {
				t.Errorf("event %d has data %q, size %d", e.Seq, e.Data, e.Size)
			}
		}
		for _, e := range slices.Backward(all) {
			under := q.Cwd == "" || e.Cwd == "/w" || e.Cwd == "/w/x"
			if (q.Session == "" || q.Session == e.SessionID) && (q.Event == "" || q.Event == e.Envelope.Event) && under &&
				(q.Tool == "" || q.Tool == e.Tool) && (q.Agent == "" || q.Agent == e.AgentID) && !e.Time.Before(q.Since) &&
				(q.Until.IsZero() || e.Time.Before(q.Until)) && (q.Text == "" || strings.Contains(strings.ToLower(e.Subject), q.Text)) &&
				(q.Before == 0 || e.Seq < q.Before) && (q.Limit == 0 || len(want) < q.Limit) {
				want = append(want, e.Seq)
			}
		}
		if want = want[:min(len(want), 100)]; q.Limit == 0 {
			want = want[:min(len(want), 50)]
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v:\ngot  %v %v\nwant %v", q, got, err, want)
		}
	}
}

// Statistics by hour are those of one hook, or of all.
func TestStatsByHour(t *testing.T) {
	s := open(t, options(t))
	hour := time.Now().Add(-30 * time.Hour).Truncate(time.Hour).UTC()
	err := s.do(t.Context(), func(db *database) error {
		for i, hook := range []string{"a", "b", "a"} {
			r := &wire.Run{Hook: hook, Result: wire.ResultOK, DurationMS: 10}
			if err := s.w.spans.count(db, r, hour.Add(time.Duration(i)*40*time.Minute)); err != nil {
				return err
			}
		}
		return s.w.spans.flush(db)
	})
	hooktest.Must(t, err)
	for hook, want := range map[string][]int64{"a": {1, 1}, "b": {1}, "": {2, 1}} {
		list, err := s.Stats(t.Context(), wire.StatsQuery{By: ByHour, Hook: hook, Since: hour})
		var got []int64
		for _, st := range list {
			got = append(got, st.Runs)
		}
		if err != nil || !slices.Equal(got, want) || list[0].Name != hour.Format(time.RFC3339) {
			t.Errorf("of %q: got %+v %v, want %v", hook, list, err, want)
		}
	}
}
