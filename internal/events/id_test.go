package events

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/wire"
)

func TestNewIDIsAULID(t *testing.T) {
	at := time.UnixMilli(1469918176385) // the example of the ULID spec: 01ARYZ6S41
	var s ids
	got := s.next(at)
	if len(got) != 26 || !strings.HasPrefix(got, "01ARYZ6S41") {
		t.Errorf("got %s, want 26 characters that begin with 01ARYZ6S41", got)
	}
	if strings.Trim(got, crockford) != "" {
		t.Errorf("%s has characters outside Crockford's alphabet", got)
	}
}

func TestNewIDGrows(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	var s ids
	last := ""
	for i := range 5000 {
		// The clock stands, steps on, and steps back.
		now := at.Add(time.Duration(i%7-i%3*50) * time.Millisecond)
		if id := s.next(now); id <= last {
			t.Fatalf("%s after %s", id, last)
		} else {
			last = id
		}
	}
}

func TestNewIDPastTheRandomBits(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	ms := uint64(at.UnixMilli())
	s := ids{ms: ms, last: encodeULID(ms, 0xffff, ^uint64(0))}
	last := string(s.last[:])
	for range 3 {
		id := s.next(at)
		if id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
	if want := uint64(at.UnixMilli()) + 1; s.ms != want {
		t.Errorf("got millisecond %d, want %d", s.ms, want)
	}
}

// The text is counted as the number that it spells.
func TestNewIDCounts(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	ms := uint64(at.UnixMilli())
	for _, from := range []struct{ hi, lo uint64 }{{0, 0}, {0, 31}, {5, 1<<10 - 1}, {7, ^uint64(0)}, {0xfffe, ^uint64(0) - 40}} {
		s := ids{ms: ms, last: encodeULID(ms, from.hi, from.lo)}
		for range 100 {
			if from.lo++; from.lo == 0 {
				from.hi++
			}
			if got, want := s.next(at), encodeULID(ms, from.hi, from.lo); got != string(want[:]) {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
}

func TestNewIDAtTheEdges(t *testing.T) {
	if got, want := encodeULID(1<<48-1, 0xffff, ^uint64(0)), "7"+strings.Repeat("Z", 25); string(got[:]) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := encodeULID(0, 0, 1), strings.Repeat("0", 25)+"1"; string(got[:]) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var s ids
	if got := s.next(time.Time{}); !wire.IsID(got) || !strings.HasPrefix(got, "0000000000") {
		t.Errorf("before 1970: got %s", got)
	}
}

func TestNewIDIsUniqueAcrossGoroutines(t *testing.T) {
	const goroutines, each = 8, 2000
	made := make([][]string, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range each / 2 {
				made[g] = append(made[g], NewID(time.Now()), NewRunID(time.Now()))
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, list := range made {
		for _, id := range list {
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != goroutines*each {
		t.Errorf("got %d ids, want %d", len(seen), goroutines*each)
	}
}

func BenchmarkNewID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewID(time.Now())
	}
}
