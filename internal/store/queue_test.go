package store

import "testing"

// What has ended before it was written that it has begun needs no such note;
// what is being written keeps it.
func TestBegunAndEnded(t *testing.T) {
	q := newQueue()
	written := 0
	note := func(*database) error { written++; return nil }
	soon, late := Key{1, "a"}, Key{2, "a"}
	q.begin(soon, &op{exec: note, lean: note, after: func() { written++ }})
	q.begin(late, &op{exec: note, lean: note})
	q.ended(soon)
	batch := q.take()
	q.ended(late)
	for _, o := range batch {
		o.exec(nil)
		if o.after != nil {
			o.after()
		}
	}
	if len(batch) != 2 || written != 1 || len(q.begun) != 0 {
		t.Errorf("%d ops, %d notes written, %d remembered; want 2, 1 and 0", len(batch), written, len(q.begun))
	}
	if q.begin(soon, &op{exec: note, lean: note}); len(q.begun) != 1 {
		t.Error("the next attempt is not noted")
	}
}
