package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func prune(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// kept returns the counts of the tables, and fails where they are not those
// that Health shows.
func kept(t *testing.T, s *Store) (runs, accepted int64) {
	t.Helper()
	if err := s.db.reading.QueryRow(`SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM events)`).Scan(&runs, &accepted); err != nil {
		t.Fatal(err)
	}
	if h := s.Health(); h.Runs != runs || h.Events != accepted {
		t.Errorf("health %+v, but there are %d runs and %d events", h, runs, accepted)
	}
	return runs, accepted
}

func TestPruneByNumber(t *testing.T) {
	o := options(t)
	o.Limits.MaxRuns = 300
	s := open(t, o)
	for i := uint64(0); i < 1000; i++ {
		e := event(2*i+1, "agent:end", `{}`)
		s.Note(e, nil)
		r := run(2*i+2, e, "a", wire.ResultOK)
		r.Stdout = wire.Output{Head: "x", Bytes: 1}
		s.Record(r)
	}
	accept(t, s, event(3001, "agent:end", `{}`), "waiting")
	prune(t, s)
	if runs, accepted := kept(t, s); runs != 300 || accepted != 300 {
		t.Errorf("kept %d runs and %d events, want 300 of each", runs, accepted)
	}
	var outputs int
	if err := s.db.reading.QueryRow(`SELECT count(*) FROM outputs`).Scan(&outputs); err != nil || outputs != 300 {
		t.Errorf("%d outputs are left (%v), want 300", outputs, err)
	}
	page, err := s.Runs(t.Context(), wire.RunQuery{Limit: 1})
	if err != nil || page.Runs[0].Seq != 2000 {
		t.Errorf("got %+v %v, want the newest", page, err)
	}
	feed, err := s.Since(t.Context(), 0, 3001, 1000, 1<<30)
	if err != nil || feed.Missing[0].First != 1 || feed.Missing[0].Last < 1400 || feed.Records[0].Seq <= feed.Missing[0].Last {
		t.Errorf("missing %v, first %d (%v)", feed.Missing, feed.Records[0].Seq, err)
	}
	if stats, err := s.Stats(t.Context(), wire.StatsQuery{}); err != nil || stats[0].Runs != 1000 {
		t.Errorf("stats %+v %v, want all 1000: they outlive the runs", stats, err)
	}
}

func TestPruneByAge(t *testing.T) {
	o := options(t)
	o.Limits.MaxAge = 10 * time.Hour
	s := open(t, o)
	all := history(t, s, 500, 50*time.Hour)
	old := event(600_000, "agent:end", `{"t":"`+strings.Repeat("x", 500)+`"}`)
	old.Time = time.Now().Add(-100 * time.Hour)
	dead, gone := event(600_001, "agent:end", `{}`), event(600_002, "agent:end", `{}`)
	dead.Time, gone.Time = old.Time, old.Time
	accept(t, s, old, "a")
	accept(t, s, dead, "a")
	accept(t, s, gone)
	s.GiveUp(events.PendingKey{Seq: 600_001, Hook: "a"}, &wire.Run{}, "too old")
	prune(t, s)
	want := int64(0)
	for _, r := range all {
		if time.Since(r.Started) < 10*time.Hour {
			want++
		}
	}
	runs, accepted := kept(t, s)
	if runs < want-2 || runs > want+2 {
		t.Errorf("kept %d runs, want %d", runs, want)
	}
	if accepted != 2 {
		t.Errorf("kept %d events, want the pending one and that of the dead letter", accepted)
	}
	if got := pending(t, s); !slices.Equal(got, []string{"600000:a"}) {
		t.Errorf("pending %v", got)
	}
}

func TestPruneByBytes(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Limits.MaxBytes = 3 << 20
	s := open(t, o)
	for i := uint64(0); i < 2000; i++ {
		e := event(2*i+1, "agent:end", `{}`)
		s.Note(e, nil)
		r := run(2*i+2, e, fmt.Sprint("h", i%9), wire.ResultOK)
		r.Stdout = wire.Output{Head: strings.Repeat("x", 5000), Bytes: 5000}
		s.Record(r)
		if i%500 == 0 {
			flush(t, s)
		}
	}
	accept(t, s, event(9001, "agent:end", `{"t":"`+strings.Repeat("x", 500)+`"}`), "a")
	prune(t, s)
	var used, spare int64
	if err := s.db.reading.QueryRow(usedBytes).Scan(&used); err != nil {
		t.Fatal(err)
	}
	if err := s.db.reading.QueryRow(`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`).Scan(&spare); err != nil {
		t.Fatal(err)
	}
	runs, accepted := kept(t, s)
	if used > o.Limits.MaxBytes || runs < 100 || accepted < 100 || spare > spareBytes {
		t.Errorf("%d bytes with %d runs and %d events, %d spare", used, runs, accepted, spare)
	}
	if got := pending(t, s); !slices.Equal(got, []string{"9001:a"}) {
		t.Errorf("pending %v", got)
	}
}

func TestPruneShrinksTheFile(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	for i := uint64(1); i <= 600; i++ {
		r := run(i, event(1, "agent:end", `{}`), "a", wire.ResultOK)
		r.Stdout = wire.Output{Head: strings.Repeat("x", 64<<10), Bytes: 64 << 10}
		s.Record(r)
		if i%100 == 0 {
			flush(t, s)
		}
	}
	s.checkpoint(t.Context())
	before := fileSize(t, o.Path)
	s.Configure(Limits{MaxRuns: 10})
	prune(t, s)
	closed(t, s)
	if after := fileSize(t, o.Path); after > before/2+spareBytes || after >= before {
		t.Errorf("%d bytes, before %d", after, before)
	}
}

func TestPruneDeadLetters(t *testing.T) {
	s := open(t, options(t))
	data := `{"t":"` + strings.Repeat("x", 5000) + `"}`
	for i := uint64(1); i <= 3; i++ {
		accept(t, s, event(i, "agent:end", data), "a")
		s.GiveUp(events.PendingKey{Seq: i, Hook: "a"}, &wire.Run{}, "why not")
	}
	flush(t, s)
	err := s.do(t.Context(), func(db *database) error {
		_, err := db.exec(`UPDATE dead SET at = ? WHERE seq <= 2`, nanos(time.Now().Add(-deadAge-time.Hour)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	prune(t, s)
	list, err := s.DeadLetters(t.Context(), "", 0, 0)
	if err != nil || len(list) != 1 || list[0].ID != 3 || s.Health().DeadLetters != 1 {
		t.Errorf("got %+v %v, want the youngest", list, err)
	}
	var payloads int
	if err := s.db.reading.QueryRow(`SELECT count(*) FROM events WHERE length(data) > 2048`).Scan(&payloads); err != nil || payloads != 1 {
		t.Errorf("%d payloads are left (%v), want 1", payloads, err)
	}
}

func TestPruneForgetsOldCounts(t *testing.T) {
	s := open(t, options(t))
	now := time.Now()
	for i, age := range []time.Duration{0, keepHours + 48*time.Hour, keepDays + 48*time.Hour} {
		s.Record(&wire.Run{ID: fmt.Sprint(i), Seq: uint64(i + 1), Hook: "a", Result: wire.ResultOK, Started: now.Add(-age), DurationMS: 1})
	}
	flush(t, s)
	prune(t, s)
	var hours, days int
	if err := s.db.reading.QueryRow(`SELECT (SELECT count(*) FROM spans WHERE length = 3600), (SELECT count(*) FROM spans WHERE length = 86400)`).Scan(&hours, &days); err != nil || hours != 1 || days != 2 {
		t.Errorf("%d hours and %d days (%v), want 1 and 2", hours, days, err)
	}
	if stats, err := s.Stats(t.Context(), wire.StatsQuery{Since: now.Add(-keepHours - 48*time.Hour)}); err != nil || stats[0].Runs != 2 {
		t.Errorf("got %+v %v, want 2 runs: whole days answer what hours cannot", stats, err)
	}
}

func TestPruneRunsByItself(t *testing.T) {
	o := options(t)
	o.sweep = time.Millisecond
	o.Limits.MaxRuns = 1
	s := open(t, o)
	for i := uint64(1); i <= 5; i++ {
		s.Record(run(i, event(1, "agent:end", `{}`), "a", wire.ResultOK))
	}
	flush(t, s)
	hooktest.Until(t, "pruned", func() bool { return s.Health().Runs == 1 })
}

// While more comes than pruning deletes, it does not end; the log is merged all
// the same.
func TestTheLogIsMergedWhilePruning(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.sweep, o.Limits.MaxRuns = time.Millisecond, 1
	s := open(t, o)
	const size, number = 4 << 10, 20_000
	for i := uint64(1); i <= number; i++ {
		r := run(i, event(i, "agent:end", `{}`), "a", wire.ResultOK)
		r.Stdout = wire.Output{Head: strings.Repeat("x", size), Bytes: size}
		s.Record(r)
		if i%500 == 0 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := os.Stat(o.Path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= number*size { // a log that was never merged has all of it, and what pruning wrote
		t.Errorf("the log has %d bytes after %d were written", info.Size(), number*size)
	}
}
