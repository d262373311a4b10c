package proc

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
)

func TestSink(t *testing.T) {
	sizes := []int{0, 1, HeadBytes - 1, HeadBytes, HeadBytes + 1, HeadBytes + TailBytes - 1, HeadBytes + TailBytes,
		HeadBytes + TailBytes + 1, HeadBytes + 2*TailBytes, 1 << 20}
	for _, size := range sizes {
		for _, chunk := range []int{7, 4096, HeadBytes, TailBytes, 64 << 10, 2 << 20} {
			t.Run(fmt.Sprintf("%d/%d", size, chunk), func(t *testing.T) {
				var s sink
				for b := pattern(size); len(b) > 0; b = b[min(chunk, len(b)):] {
					s.add(b[:min(chunk, len(b))])
				}
				checkOutput(t, s.output(), pattern(size))
				if len(s.whole) != 0 || cap(s.tail) > 2*TailBytes || cap(s.head) > 2*HeadBytes {
					t.Errorf("got %d and %d bytes in use, want them bounded", cap(s.head), cap(s.tail))
				}
			})
		}
	}
}

// checkOutput wants the ends of all.
func checkOutput(t *testing.T, got Output, all []byte) {
	t.Helper()
	head := all[:min(len(all), HeadBytes)]
	tail := all[len(head):]
	tail = tail[max(0, len(tail)-TailBytes):]
	if !bytes.Equal(got.Head, head) || !bytes.Equal(got.Tail, tail) || got.Bytes != int64(len(all)) {
		t.Errorf("got %d+%d of %d bytes, want %d+%d of %d, or not the right ones",
			len(got.Head), len(got.Tail), got.Bytes, len(head), len(tail), len(all))
	}
}

func TestOutputDoesNotChangeLater(t *testing.T) {
	var s sink
	s.add(pattern(HeadBytes - 10))
	s.add(pattern(30))
	before := s.output()
	want := all(before)
	s.add(bytes.Repeat([]byte("z"), 3*TailBytes))
	if got := all(before); got != want {
		t.Errorf("got another output than before")
	}
}

func TestHeadTailAndWhole(t *testing.T) {
	r := newRunner(t, Options{})
	for _, c := range []struct{ size, whole int }{
		{0, 10}, {10, 0}, {10, 10}, {11, 10}, {HeadBytes, 1 << 20}, {HeadBytes + 1, HeadBytes}, {HeadBytes + TailBytes, 1},
		{HeadBytes + TailBytes + 1, 1 << 20}, {1 << 20, 1 << 20}, {1<<20 + 1, 1 << 20},
	} {
		t.Run(fmt.Sprintf("%d/%d", c.size, c.whole), func(t *testing.T) {
			s := helper(t, "write", strconv.Itoa(c.size))
			s.Whole = c.whole
			e := r.Run(t.Context(), s)
			want := pattern(c.size)
			checkOutput(t, e.Stdout, want)
			if !bytes.Equal(e.Whole, want[:min(c.size, c.whole)]) || e.WholeExceeded != (c.whole > 0 && c.size > c.whole) {
				t.Errorf("got %d bytes whole, exceeded %v, of %d with limit %d", len(e.Whole), e.WholeExceeded, c.size, c.whole)
			}
		})
	}
}
