package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A commit that a caller waits for takes no records along, unless they are due;
// once they are, they are taken in order until none is left.
func TestRecordsAreTakenWhenTheyAreRipe(t *testing.T) {
	q := newQueue(time.Hour)
	asked := func(all bool) *op { return &op{exec: nothing, done: func(error) {}, all: all} }
	took := func(want int) []*op {
		t.Helper()
		batch := q.take()
		if len(batch) != want {
			t.Errorf("took %d, want %d", len(batch), want)
		}
		return batch
	}
	record := func(n int) {
		for range n {
			q.add(&op{exec: nothing})
		}
	}
	record(3)
	q.add(asked(false))
	took(1)
	took(0)
	q.add(asked(true))
	if batch := took(4); batch[0].done == nil {
		t.Error("a record came before what a caller waits for")
	}
	record(2)
	took(0)
	q.mature()
	took(2)
	record(batchRecords + 5)
	took(batchRecords)
	record(1)
	took(6)
	record(1)
	took(0)
	q.close()
	took(1)
}

// Events of several senders, whose times are not quite in order, have one
// allowance; a clock that was set back begins another.
func TestRoomOfEventsOutOfOrder(t *testing.T) {
	q, now := newQueue(time.Second), time.Now().Round(0)
	given := func(back time.Duration) (n int) {
		for i := range uint64(2 * noteBurst) {
			if q.room(i+1, 0, now.Add(-back*time.Duration(i%2))) {
				n++
			}
		}
		return n
	}
	if got := given(10 * time.Millisecond); got != noteBurst {
		t.Errorf("got room for %d events, want %d", got, noteBurst)
	}
	now = now.Add(-time.Hour)
	if got := given(0); got != noteBurst {
		t.Errorf("after the clock was set back, got room for %d events, want %d", got, noteBurst)
	}
}

// However many events come, and however large they are, the records of their
// runs are written as fast as they come: none is dropped while the disk works.
func TestRecordsKeepUp(t *testing.T) {
	t.Parallel()
	for _, size := range []int{opCost, 1 << 20} {
		q := newQueue(time.Hour)
		for range 200 {
			for range batchOps {
				q.add(&op{done: func(error) {}, size: size})
			}
			for range 4 * batchOps {
				q.add(&op{exec: nothing, size: opCost, number: 1})
			}
			for taken := 0; taken < batchOps; {
				for _, o := range q.take() {
					if o.done != nil {
						taken++
					}
				}
			}
		}
		if records, dropped := q.load(); dropped > 0 || records > 16*batchOps {
			t.Errorf("events of %d bytes: %d records wait, %d were dropped", size, records, dropped)
		}
	}
}

// Large events use up the room for events that no hook waits for sooner, and
// hasRoom knows before.
func TestRoomOfLargeEvents(t *testing.T) {
	q := newQueue(time.Hour)
	now := time.Now()
	kept := 0
	for i := uint64(1); q.hasRoom(now); i++ {
		if !q.room(i, 1<<20, now) {
			t.Fatal("there was room, but not for this event")
		}
		kept++
	}
	if want := noteBurst * noteBytes / redactBytes; kept < want/2 || kept > want {
		t.Errorf("%d large events were kept, want about %d", kept, want)
	}
	if q.room(1<<20, 0, now) {
		t.Error("there is room although hasRoom reported none")
	}
}

// A flood of events that no hook waits for loses some of them, and no event that hooks decide
// about: replay and what-if need them.
func TestAFloodOfDecidedEventsIsKept(t *testing.T) {
	const flood = 2 * noteBurst
	for _, judged := range []bool{true, false} {
		s, at := open(t, options(t)), time.Now()
		for n := uint64(1); n <= flood; n++ {
			e := event(n, "pre_tool_use", `{"tool_name":"shell"}`)
			e.Time, e.Wait, e.Judged = at, true, judged
			s.Note(e, nil)
		}
		hooktest.Must(t, s.Flush(t.Context()))
		kept := 0
		hooktest.Must(t, s.read(func(db *sql.DB) error {
			return db.QueryRow(`SELECT count(*) FROM events`).Scan(&kept)
		}))
		if judged != (kept == flood) {
			t.Errorf("judged %t: %d of %d events are kept", judged, kept, flood)
		}
	}
}
