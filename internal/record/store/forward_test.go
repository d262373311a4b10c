package store

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

func decideAt(s *Store, seq uint64, at time.Time) {
	s.Decided(&wire.Decision{EventID: "E", Seq: seq, EventSeq: seq, Time: at, Event: "x", Decision: wire.OutcomeDeny})
}

// A place outlives the daemon, and a file that is deleted under it: its successor begins
// where the first one was.
func TestAPlaceOutlivesTheFile(t *testing.T) {
	o := Options{Path: t.TempDir() + "/hookd.db", Durable: DurableOS, sweep: -1}
	s, err := Open(o)
	hooktest.Must(t, err)
	s.Targets([]string{"siem"})
	for i := range uint64(5) {
		decideAt(s, s.FirstSeq()+i, time.Now())
	}
	s.Forwarded("siem", s.FirstSeq()+2, 0)
	hooktest.Must(t, s.Flush(t.Context()))
	behind(t, s, "siem", 2)

	for _, ending := range []string{"", "-wal", "-shm"} {
		hooktest.Must(t, os.RemoveAll(o.Path+ending))
	}
	for i := range uint64(3) {
		decideAt(s, s.FirstSeq()+5+i, time.Now())
	}
	hooktest.Until(t, "the successor takes records", func() bool { return s.Flush(t.Context()) == nil })
	behind(t, s, "siem", 3)
	hooktest.Must(t, s.Close())

	s, err = Open(o)
	hooktest.Must(t, err)
	defer s.Close()
	s.Targets([]string{"siem", "new"})
	hooktest.Must(t, s.Flush(t.Context()))
	behind(t, s, "siem", 3)
	behind(t, s, "new", 0)
}

// A decision with a number behind one not handed over yet waits for that one.
func TestAheadEndsAtANumber(t *testing.T) {
	s, err := Open(Options{Path: t.TempDir() + "/hookd.db", Durable: DurableOS, sweep: -1})
	hooktest.Must(t, err)
	defer s.Close()
	s.Targets([]string{"siem"})
	first := s.FirstSeq()
	decideAt(s, first, time.Now())
	decideAt(s, first+2, time.Now())
	hooktest.Must(t, s.Flush(t.Context()))
	a, err := s.Ahead(t.Context(), "siem", first+1, 10)
	hooktest.Must(t, err)
	if len(a.Decisions) != 1 || a.Decisions[0].Seq != first {
		t.Errorf("ahead are %+v, want that with the number %d alone", a.Decisions, first)
	}
}

func behind(t *testing.T, s *Store, target string, want int) {
	t.Helper()
	if p, err := s.Place(t.Context(), target); err != nil || p.Waiting != want || p.Missed != 0 {
		t.Errorf("%s: %+v, %v, want %d waiting", target, p, err, want)
	}
}

// The place of a target that was taken out is forgotten when the history is, that of one in
// force never.
func TestOldPlacesGo(t *testing.T) {
	s, err := Open(Options{Path: t.TempDir() + "/hookd.db", Durable: DurableOS, sweep: -1})
	hooktest.Must(t, err)
	defer s.Close()
	s.Targets([]string{"gone", "kept"})
	s.Targets([]string{"kept"})
	hooktest.Must(t, s.Flush(t.Context()))
	hooktest.Must(t, s.do(t.Context(), func(db *database) error {
		_, err := db.exec(`UPDATE forward SET at = ?`, nanos(time.Now().Add(-31*24*time.Hour)))
		return err
	}))
	hooktest.Must(t, s.Prune(context.Background()))
	if _, err := s.Place(t.Context(), "gone"); err == nil {
		t.Error("the place of what was taken out is there")
	}
	behind(t, s, "kept", 0)
}
