package store

import (
	"testing"
	"time"
)

// A commit that somebody waits for takes no records along, unless they are due;
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
		t.Error("a record came before what somebody waits for")
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
