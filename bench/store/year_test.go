package store

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

var (
	yearRuns = flag.Int("year", 0, "how many runs the made-up year has; 0 = the test is skipped")
	yearFile = flag.String("year-file", "", "keep the year in this database and use it when it is there; empty = a new one each time")
)

// TestYear makes up a year of history and prints how long it takes to start
// on it, to ask it, to prune it, and to write to it, idle and while it is
// pruned.
func TestYear(t *testing.T) {
	if *yearRuns == 0 {
		t.Skip("takes minutes; run it with -year 5000000")
	}
	o := options(t, store.DurableFsync)
	if *yearFile != "" {
		o.Path = *yearFile
	}
	if info, err := os.Stat(o.Path); err != nil || info.Size() == 0 {
		timed(t, "make", func() { makeYear(t, o) })
	}
	var s *store.Store
	timed(t, "start", func() { s = open(t, o) })
	h := s.Health()
	t.Logf("%d runs, %d events, %d MiB", h.Runs, h.Events, h.Bytes>>20)
	ask(t, s)

	next := s.FirstSeq()
	t.Logf("%-48s %s", "accept, idle", acceptFor(t, s, &next, time.After(3*time.Second)))
	o.Limits.MaxRuns = h.Runs - 50_000
	s.Configure(o.Limits)
	done := make(chan time.Time)
	begin := time.Now()
	go func() {
		defer close(done)
		if err := s.Prune(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	latency := acceptFor(t, s, &next, done)
	after := s.Health()
	t.Logf("%-48s %v, %d runs and %d events", "prune", time.Since(begin).Round(time.Millisecond), h.Runs-after.Runs, h.Events-after.Events)
	t.Logf("%-48s %s", "accept, while it prunes", latency)
	timed(t, "prune, nothing to do", func() {
		if err := s.Prune(t.Context()); err != nil {
			t.Error(err)
		}
	})
	timed(t, "close", func() { s.Close() })
}

func timed(t *testing.T, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	t.Logf("%-48s %v", what, time.Since(begin).Round(100*time.Microsecond))
}

// makeYear writes one event for five runs, of 20 hooks, 2,000 sessions and
// 5 % failures, evenly over the year.
func makeYear(t *testing.T, o store.Options) {
	t.Helper()
	s := open(t, o)
	defer s.Close()
	step := 365 * 24 * time.Hour / time.Duration(*yearRuns)
	begin := time.Now().Add(-365 * 24 * time.Hour)
	seq := s.FirstSeq()
	var e *events.Event
	for i := range *yearRuns {
		at := begin.Add(time.Duration(i) * step).UTC()
		if i%5 == 0 {
			e = event(seq, at)
			e.Envelope.Event = []string{"agent:end", "agent:start", "pre_tool_use", "post_tool_use"}[i/5%4]
			e.SessionID = fmt.Sprintf("session-%d", i*2000 / *yearRuns)
			e.AgentName = fmt.Sprintf("agent-%d", i/5%30)
			s.Note(e, nil)
			seq++
		}
		r := run(e, seq, fmt.Sprintf("hook-%02d", i%20), at)
		r.AgentName = e.AgentName
		r.DurationMS = math.Exp(rand.NormFloat64() + 3)
		if rand.IntN(20) == 0 {
			r.Result, r.ExitCode = wire.ResultFailed, 1
		}
		if i == *yearRuns/10 {
			r.Hook = "once"
		}
		s.Record(r)
		if seq++; i%2000 == 0 { // the backlog of records is bounded
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := s.Health(); h.Dropped > 0 || h.Events != int64(*yearRuns+4)/5 {
		t.Fatalf("%d events, %d records were dropped; want each kept", h.Events, h.Dropped)
	}
}

// ask times every kind of question, the worst cases too: rare records, and records that
// are not there at all.
func ask(t *testing.T, s *store.Store) {
	t.Helper()
	now := time.Now()
	for _, q := range []struct {
		name string
		q    wire.RunQuery
	}{
		{"newest", wire.RunQuery{}},
		{"newest 1,000", wire.RunQuery{Limit: 1000}},
		{"of a hook", wire.RunQuery{Hook: "hook-07"}},
		{"of a hook that ran once", wire.RunQuery{Hook: "once"}},
		{"of a hook that never ran", wire.RunQuery{Hook: "none"}},
		{"failed", wire.RunQuery{Result: wire.ResultFailed}},
		{"failed, of a hook that ran once", wire.RunQuery{Result: wire.ResultFailed, Hook: "once"}},
		{"timeout: none", wire.RunQuery{Result: wire.ResultTimeout}},
		{"ok, of a hook and an event that never meet", wire.RunQuery{Result: wire.ResultOK, Hook: "hook-07", Event: "session:reset"}},
		{"of a session a while ago", wire.RunQuery{Session: "session-100"}},
		{"of an agent", wire.RunQuery{Agent: "agent-7"}},
		{"half a year ago", wire.RunQuery{Until: now.Add(-180 * 24 * time.Hour)}},
		{"of the last hour", wire.RunQuery{Since: now.Add(-time.Hour)}},
	} {
		begin := time.Now()
		page, err := s.Runs(t.Context(), q.q)
		if err != nil {
			t.Error(err)
		}
		t.Logf("history: %-39s %v, %d runs, more: %v", q.name, time.Since(begin).Round(100*time.Microsecond), len(page.Runs), page.Next > 0)
	}
	for _, q := range []struct {
		name string
		q    wire.StatsQuery
	}{
		{"all", wire.StatsQuery{}}, {"of a hook", wire.StatsQuery{Hook: "hook-07"}}, {"of 30 days", wire.StatsQuery{Since: now.Add(-30 * 24 * time.Hour)}},
		{"of 24 hours", wire.StatsQuery{Since: now.Add(-24 * time.Hour)}},
	} {
		begin := time.Now()
		stats, err := s.Stats(t.Context(), q.q)
		if err != nil {
			t.Error(err)
		}
		t.Logf("stats: %-41s %v, %d hooks", q.name, time.Since(begin).Round(100*time.Microsecond), len(stats))
	}
	var id string
	timed(t, "event by id", func() {
		feed, err := s.Since(t.Context(), uint64(*yearRuns)/2, math.MaxUint64, 500, 1<<20)
		i := slices.IndexFunc(feed.Records, func(r store.Record) bool { return r.Event != nil })
		if err != nil || i < 0 {
			t.Error("no event among 500 records: ", err)
			return
		}
		id = feed.Records[i].Event.EventID
		if _, err := s.Event(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// acceptFor accepts events from one writer, with one run each, until stop, and
// says how long each took.
func acceptFor[T any](t *testing.T, s *store.Store, next *uint64, stop <-chan T) string {
	t.Helper()
	var took []time.Duration
	for {
		select {
		case <-stop:
			slices.Sort(took)
			n := len(took)
			return fmt.Sprintf("%d accepts, p50 %v, p99 %v, max %v", n, took[n/2], took[n*99/100], took[n-1])
		default:
		}
		e := event(*next, time.Now())
		begin := time.Now()
		if err := accept(s, e, "hook-01"); err != nil {
			t.Error(err)
		}
		took = append(took, time.Since(begin))
		s.Done(events.PendingKey{Seq: e.Seq, Hook: "hook-01"}, run(e, *next+1, "hook-01", e.Time))
		*next += 2
	}
}
