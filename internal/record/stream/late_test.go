package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
)

// A late record is encoded once, when the first subscriber that comes reads it; a record that left
// the ring before never is.
func TestLateRecords(t *testing.T) {
	h := New(Options{Size: 8})
	encoded := map[uint64]int{}
	late := func(size int) Encoder {
		return func(seq uint64, dst []byte) []byte {
			encoded[seq]++
			return plain(size)(seq, dst)
		}
	}
	for n := range 12 {
		if n%3 == 0 {
			h.Publish("a", plain(50))
		} else if seq := h.PublishLate("a", late(100*n), 200); seq != uint64(n+1) {
			t.Fatalf("number %d, want %d", seq, n+1)
		}
	}
	if len(encoded) > 0 {
		t.Errorf("encoded without a subscriber: %v", encoded)
	}
	for range 2 {
		s := h.Subscribe(nil, From{Since: ptr(0)})
		if got, want := drain(t, s), "epoch@12 gap 1-4 5 6 7 8 9 10 11 12"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		s.Close()
	}
	for _, seq := range []uint64{5, 6, 8, 9, 11, 12} {
		if encoded[seq] != 1 {
			t.Errorf("%d was encoded %d times", seq, encoded[seq])
		}
	}
	if len(encoded) != 6 {
		t.Errorf("encoded %v", encoded)
	}
	bytes := 0
	for i := range h.ring {
		bytes += h.ring[i].size()
	}
	if h.bytes != bytes {
		t.Errorf("the ring counts %d bytes and holds %d", h.bytes, bytes)
	}
}

// Late records count with the memory that they hold, until they are encoded.
func TestLateRecordsAreBoundedByBytes(t *testing.T) {
	h := New(Options{MaxBytes: 1000})
	for range 10 {
		h.PublishLate("a", plain(1), 300)
	}
	s := h.Subscribe(nil, From{Since: ptr(0)})
	defer s.Close()
	if got, want := drain(t, s), "epoch@10 gap 1-7 8 9 10"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Subscribers that come and go while late records are published miss none without a gap.
func TestLateRecordsWhileSubscribersComeAndGo(t *testing.T) {
	h := New(Options{Size: 64})
	const all = 5000
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := uint64(0); last < all; {
				s := h.Subscribe(nil, From{Since: &last, Once: true})
				lines, err := s.Next(context.Background(), nil)
				for ; err == nil; lines, err = s.Next(context.Background(), lines) {
				}
				s.Close()
				if !errors.Is(err, io.EOF) {
					t.Error(err)
					return
				}
				for _, r := range parseRecords(t, lines)[1:] {
					switch {
					case r.Type == "gap" && r.From == last+1:
						last = r.To
					case r.Seq == last+1:
						last++
					default:
						t.Errorf("%v after %d", r, last)
						return
					}
				}
			}
		})
	}
	for range all {
		h.PublishLate("a", plain(200), 100)
	}
	readers.Wait()
}
