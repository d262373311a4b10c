package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// interrupted lists the pending runs that had begun, as "seq:hook run".
func interrupted(t testing.TB, s *Store) []string {
	t.Helper()
	page, err := s.Pending(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, p := range page {
		if p.RunID != "" {
			list = append(list, fmt.Sprintf("%d:%s %s", p.Event.Seq, p.Hook, p.RunID))
		}
	}
	return list
}

// The next daemon knows the attempts under way until they have ended or begun again there. That
// holds also when the next daemon is interrupted too.
func TestAttemptsUnderWayOutliveLives(t *testing.T) {
	o := options(t)
	s := open(t, o)
	e := event(1, "agent:end", `{}`)
	accept(t, s, e, "a", "b", "c", "d")
	for _, hook := range []string{"a", "b", "c"} {
		s.Started(events.PendingKey{Seq: 1, Hook: hook}, "R-"+hook, time.Now())
	}
	s.Done(events.PendingKey{Seq: 1, Hook: "a"}, run(2, e, "a", wire.ResultOK))
	copied := options(t)
	flush(t, s)
	copyFiles(t, o.Path, copied.Path) // a crash
	closed(t, s)

	s = open(t, copied)
	if got, want := interrupted(t, s), []string{"1:b R-b", "1:c R-c"}; !slices.Equal(got, want) {
		t.Errorf("after a crash: got %v, want %v", got, want)
	}
	s.Started(events.PendingKey{Seq: 1, Hook: "c"}, "R-again", time.Now())
	s.Started(events.PendingKey{Seq: 1, Hook: "d"}, "R-d", time.Now())
	s.Retry(events.PendingKey{Seq: 1, Hook: "d"}, run(s.FirstSeq(), e, "d", wire.ResultFailed), time.Now())
	flush(t, s)
	want := []string{"1:b R-b", "1:c R-again"}
	if got := interrupted(t, s); !slices.Equal(got, want) {
		t.Errorf("in the second process: got %v, want %v", got, want)
	}
	closed(t, s)
	s = open(t, copied)
	if got := interrupted(t, s); !slices.Equal(got, want) {
		t.Errorf("in the third process: got %v, want %v", got, want)
	}
}

// A commit that failed counts for nothing, also in memory.
func TestAttemptsOfARefusedCommit(t *testing.T) {
	s := open(t, options(t))
	accept(t, s, event(1, "agent:end", `{}`), "a", "b")
	s.Started(events.PendingKey{Seq: 1, Hook: "a"}, "R1", time.Now())
	flush(t, s)
	s.w.attempts.end(events.PendingKey{Seq: 1, Hook: "a"})
	s.w.attempts.start(events.PendingKey{Seq: 1, Hook: "b"}, "R2", 1)
	s.w.attempts.forget() // as after ROLLBACK
	s.Record(&wire.Run{ID: "x", Seq: 2})
	flush(t, s)
	if got, want := interrupted(t, s), []string{"1:a R1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
