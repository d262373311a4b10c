package store

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/store"
)

var manyDecisions = flag.Int("decisions", 0, "how many decisions are made up; 0 = the test is skipped")

// TestDecisions makes up decisions and prints how long it takes to find some of
// them, before their text is indexed and after that.
func TestDecisions(t *testing.T) {
	if *manyDecisions == 0 {
		t.Skip("takes minutes; run it with -decisions 1000000")
	}
	s := open(t, options(t, store.DurableOS))
	defer s.Close()
	timed(t, "make", func() { makeDecisions(t, s) })
	t.Logf("%d MiB", s.Health().Bytes>>20)
	begin := time.Now()
	ask := func(when string) {
		day := begin.Add(-100 * 24 * time.Hour)
		for _, q := range []struct {
			name string
			store.DecisionQuery
		}{
			{"newest page", store.DecisionQuery{}},
			{"text, rare", store.DecisionQuery{Text: "needle 4242 "}},
			{"text, frequent", store.DecisionQuery{Text: "git push"}},
			{"text, absent", store.DecisionQuery{Text: "there is no such text"}},
			{"one tool, rare", store.DecisionQuery{Tools: []string{"mcp__rare__tool"}}},
			{"one tool, frequent", store.DecisionQuery{Tools: []string{"Bash"}}},
			{"one session", store.DecisionQuery{Sessions: []string{"s77"}}},
			{"denials", store.DecisionQuery{Decisions: []string{"deny"}}},
			{"one day", store.DecisionQuery{Since: day, Until: day.Add(24 * time.Hour)}},
		} {
			var page store.DecisionPage
			var err error
			timed(t, when+q.name, func() { page, err = s.Decisions(t.Context(), q.DecisionQuery) })
			if err != nil {
				t.Error(err)
			}
			t.Logf("  %d found, next %d", len(page.Decisions), page.Next)
		}
	}
	ask("first: ")
	timed(t, "text is indexed", func() {
		for len(oldest(t, s).Decisions) == 0 && t.Context().Err() == nil { // each look takes a while
		}
	})
	ask("indexed: ")
}

// oldest asks for text of one of the first decisions: it is in the first page once
// the rest is indexed.
func oldest(t *testing.T, s *store.Store) store.DecisionPage {
	t.Helper()
	page, err := s.Decisions(t.Context(), store.DecisionQuery{Text: "needle 7 "})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// makeDecisions spreads them evenly over a year, of 20,000 sessions and a few
// tools, 2 % denials.
func makeDecisions(t *testing.T, s *store.Store) {
	t.Helper()
	first, now := s.FirstSeq(), time.Now()
	step := 365 * 24 * time.Hour / time.Duration(*manyDecisions)
	for i := range *manyDecisions {
		at := now.Add(-step * time.Duration(*manyDecisions-i))
		d := &events.Decided{
			EventID: events.NewID(at), Seq: first + uint64(2*i+1), EventSeq: first + uint64(2*i), Time: at, Event: "PreToolUse",
			Kind: events.KindToolBefore, Dialect: events.ClaudeCode, SessionID: fmt.Sprint("s", i%20_000), Tool: "Bash", Cwd: "/home/me/project",
			Subject: fmt.Sprintf("git push origin feature-%d && make test # needle %d of this line", i%1000, i), Decision: events.OutcomeNone,
			DurationMS: 3, Runs: []string{events.NewRunID(at)},
		}
		switch {
		case i%50 == 0:
			d.Decision, d.Reason, d.DecidedBy = events.OutcomeDeny, "no pushes on Fridays", []string{"no-push"}
		case i%5000 == 1:
			d.Tool = "mcp__rare__tool"
		}
		s.Decided(d)
		if i%5000 == 0 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
