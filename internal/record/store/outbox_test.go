package store

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func outgoing(id string, size int) Outgoing {
	return Outgoing{ID: id, Subject: "hookd.t.m.work.h", At: time.Unix(1, 5), Body: make([]byte, size)}
}

// Messages that wait for the fleet outlive a restart, once and in order, until they were sent.
func TestOutboxOutlivesARestart(t *testing.T) {
	o := options(t)
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "a", "c", "d"} {
		if err := s.PutOutgoing(t.Context(), outgoing(id, 100)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Outgoing(t.Context(), []string{"other"}, true, 2, 1<<20)
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].ID != "b" ||
		!list[0].At.Equal(time.Unix(1, 5)) || len(list[0].Body) != 100 {
		t.Fatalf("the first two are %+v, %v", list, err)
	}
	if err := s.SentOutgoing(t.Context(), []uint64{list[0].N}); err != nil {
		t.Fatal(err)
	}
	if err := s.RefuseOutgoing(t.Context(), list[1].N, "too large"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if list, err = s.Outgoing(t.Context(), []string{"other"}, true, 10, 1<<20); err != nil || len(list) != 2 || list[0].ID != "c" || list[1].ID != "d" {
		t.Errorf("after a restart there are %+v, %v", list, err)
	}
	l, err := s.OutboxLoad(t.Context())
	if err != nil || l.Messages != 2 || l.Bytes != 300 || l.Refused != 1 || l.Why != "too large" ||
		!l.Oldest.Equal(time.Unix(1, 5)) {
		t.Errorf("the load is %+v, %v", l, err)
	}
}

// A message for which there is no room is refused, and others with it are not.
func TestOutboxIsBounded(t *testing.T) {
	o := options(t)
	o.Limits.QueueBytes = 1000
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 10 {
		if err := s.PutOutgoing(t.Context(), outgoing(fmt.Sprint(i), 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutOutgoing(t.Context(), outgoing("more", 1)); !errors.Is(err, ErrOutboxFull) {
		t.Errorf("a message too much: %v", err)
	}
	if err := s.Health().Err; err != nil {
		t.Errorf("the store counts as broken: %v", err)
	}
	for bytes, want := range map[int64]int{0: 1, 99: 1, 100: 1, 250: 2, 1 << 20: 10} {
		if list, err := s.Outgoing(t.Context(), []string{"hookd.t.m.work.h"}, false, 100, bytes); err != nil || len(list) != want {
			t.Errorf("of %d bytes there are %d messages, %v, want %d", bytes, len(list), err, want)
		}
	}
	list, err := s.Outgoing(t.Context(), []string{"other"}, true, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SentOutgoing(t.Context(), []uint64{list[0].N}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutOutgoing(t.Context(), outgoing("more", 100)); err != nil {
		t.Errorf("where there is room again: %v", err)
	}
}
