package store

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

var manyDecisions = flag.Int("decisions", 0, "how many decisions are made up; 0 = the test is skipped")

// TestDecisions makes up decisions and prints how long it takes to find some of
// them, right after they were written and beside a writer.
func TestDecisions(t *testing.T) {
	if *manyDecisions == 0 {
		t.Skip("takes minutes; run it with -decisions 1000000")
	}
	o := options(t, store.DurableOS)
	s := open(t, o)
	defer s.Close()
	makeDecisions(t, s)
	t.Logf("%d MiB", s.Health().Bytes>>20)
	begin := time.Now()
	ask := func(when string) {
		day := begin.Add(-100 * 24 * time.Hour)
		for _, q := range []struct {
			name string
			wire.DecisionQuery
		}{
			{"newest page", wire.DecisionQuery{}},
			{"text, rare", wire.DecisionQuery{Text: "needle 4242 "}},
			{"text, frequent", wire.DecisionQuery{Text: "git push"}},
			{"text, absent", wire.DecisionQuery{Text: "there is no such text"}},
			{"one tool, rare", wire.DecisionQuery{Tool: "mcp__rare__tool"}},
			{"one tool, frequent", wire.DecisionQuery{Tool: "Bash"}},
			{"one session", wire.DecisionQuery{Session: "s77"}},
			{"denials", wire.DecisionQuery{Decision: "deny"}},
			{"one day", wire.DecisionQuery{Since: day, Until: day.Add(24 * time.Hour)}},
		} {
			found, pages := 0, 0
			timed(t, when+q.name, func() { found, pages = all(t, s, q.DecisionQuery) })
			t.Logf("  %d found, in %d parts", found, pages)
		}
	}
	ask("right after: ")
	stop := make(chan struct{})
	written := make(chan int)
	go func() { written <- writeDecisions(s, stop) }()
	ask("beside a writer: ")
	close(stop)
	t.Logf("%d decisions were written meanwhile", <-written)
}

// writeDecisions writes decisions as fast as they are stored, until stop is closed, and
// returns how many.
func writeDecisions(s *store.Store, stop <-chan struct{}) (n int) {
	first := s.FirstSeq() + 10*uint64(*manyDecisions)
	for ; ; n++ {
		select {
		case <-stop:
			return n
		default:
		}
		d := madeUp(first, n, time.Now())
		s.Decided(d)
		if n%1000 == 0 && s.Flush(context.Background()) != nil {
			return n
		}
	}
}

// all asks for one page of decisions, part by part as a client does: how many there
// are, and how many parts.
func all(t *testing.T, s *store.Store, q wire.DecisionQuery) (found, parts int) {
	t.Helper()
	for {
		page, err := s.Decisions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		found += len(page.Decisions)
		if parts++; page.Next == 0 || found >= 50 {
			return found, parts
		}
		q.Before = page.Next
	}
}

// makeDecisions spreads them evenly over a year, 50 a session, of a few tools, 2 %
// denials.
func makeDecisions(t *testing.T, s *store.Store) {
	t.Helper()
	first, now, begin := s.FirstSeq(), time.Now(), processorTime(t)
	step := 365 * 24 * time.Hour / time.Duration(*manyDecisions)
	for i := range *manyDecisions {
		d := madeUp(first, i, now.Add(-step*time.Duration(*manyDecisions-i)))
		s.Decided(d)
		if i%5000 == 0 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if tenth := *manyDecisions / 10; tenth > 0 && (i+1)%tenth == 0 { // each takes as long as the first
			t.Logf("%d decisions: %v of processor time each since the line before", i+1, (processorTime(t)-begin)/time.Duration(tenth))
			begin = processorTime(t)
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// madeUp makes decision i of the decisions whose numbers begin with first.
func madeUp(first uint64, i int, at time.Time) *wire.Decision {
	d := &wire.Decision{
		EventID: events.NewID(at), Seq: first + uint64(2*i+1), EventSeq: first + uint64(2*i), Time: at, Event: "PreToolUse",
		Kind: events.KindToolBefore, Dialect: events.ClaudeCode, SessionID: fmt.Sprint("s", i/50), Tool: "Bash", Cwd: "/home/me/project",
		Subject: fmt.Sprintf("git push origin feature-%d && make test # needle %d of this line", i%1000, i), Decision: wire.OutcomeNone,
		DurationMS: 3, Runs: []string{events.NewRunID(at)},
	}
	switch {
	case i%50 == 0:
		d.Decision, d.Reason, d.DecidedBy = wire.OutcomeDeny, "no pushes on Fridays", []string{"no-push"}
	case i%5000 == 1:
		d.Tool = "mcp__rare__tool"
	}
	return d
}
