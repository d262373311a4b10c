package stream

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// told encodes a record that says its number over and over, size bytes at least.
func told(size int) Encoder {
	return func(seq uint64, dst []byte) []byte {
		word := strconv.FormatUint(seq, 10) + " "
		return append(dst, strings.Repeat(word, size/len(word)+1)...)
	}
}

// isTold reports whether line is a record of told, all of one number.
func isTold(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte(" "))
	for _, other := range bytes.Fields(line) {
		if !bytes.Equal(other, word) {
			return false
		}
	}
	return len(word) > 0
}

// Once the ring is full, its memory is used again.
func TestMemoryIsUsedAgain(t *testing.T) {
	h := New(Options{Size: 500})
	encode := plain(250)
	publish := func() {
		for range 1000 {
			h.Publish("a", encode)
		}
	}
	publish()
	if got := testing.AllocsPerRun(20, publish); got > 1 {
		t.Errorf("1,000 records took %v pieces of memory", got)
	}
}

// A record that a subscriber is about to copy stays while the ring goes on.
func TestMemoryIsLeftToReaders(t *testing.T) {
	h := New(Options{Size: 200})
	s := h.Subscribe(nil, From{})
	defer s.Close()
	for range 200 {
		h.Publish("a", told(300))
	}
	dst, _, err := s.take(nil)
	if err != nil || s.cursor < 100 || len(s.chunks) < 2 {
		t.Fatalf("%d records in %d chunks, %v", s.cursor-1, len(s.chunks), err)
	}
	if len(s.batch) != len(s.chunks) {
		t.Errorf("%d pieces of memory are to be copied, in %d chunks", len(s.batch), len(s.chunks))
	}
	for range 2000 {
		h.Publish("a", told(300))
	}
	_, lines, _ := bytes.Cut(s.copy(dst), []byte("\n")) // the first is the epoch
	want := uint64(1)
	for line := range bytes.Lines(lines) {
		if !isTold(line) || !bytes.HasPrefix(line, strconv.AppendUint(nil, want, 10)) {
			t.Fatalf("record %d is now %.60q", want, line)
		}
		want++
	}
	if want <= 100 || len(s.chunks) != 0 {
		t.Errorf("got %d records, %d chunks are held", want-1, len(s.chunks))
	}
}

// However fast the ring turns, a reader gets whole records of one number each,
// small ones and those with memory of their own.
func TestMemoryUnderReaders(t *testing.T) {
	h := New(Options{Size: 64})
	var readers sync.WaitGroup
	for range 4 {
		s := h.Subscribe(nil, From{})
		readers.Go(func() {
			defer s.Close()
			for {
				lines, err := s.Next(t.Context(), nil)
				if err == io.EOF {
					return
				}
				for line := range bytes.Lines(lines) {
					if line[0] != '{' && !isTold(line) {
						t.Errorf("%d bytes: %.60q", len(line), line)
					}
				}
			}
		})
	}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for i := range 5000 {
				h.Publish("a", told(i%7*i%9000))
			}
		})
	}
	writers.Wait()
	h.Close()
	readers.Wait()
}
