package stream

import (
	"context"
	"io"
	"math"
)

// batchBytes ends a batch: about what one write to a local socket takes.
const batchBytes = 64 << 10

// From says where a subscription begins and ends. The zero value follows the
// stream from now on.
type From struct {
	Since *uint64 // records after this number; nil = from now
	Epoch string  // of Since; empty = this one
	Once  bool    // end at the record that is the newest now
}

// A Subscription reads the stream at its own pace. It belongs to one
// goroutine.
type Subscription struct {
	hub   *Hub
	match func(name string) bool

	first  []byte // what comes before any record
	cursor uint64 // the next number to read
	end    uint64 // the last number to read
	behind bool   // what is next may be in the archive
	batch  []record
	chunks []*chunk // that the batch is in
	closed bool
}

// Subscribe begins a subscription to the records whose name match accepts; nil
// accepts all. The first record tells the epoch and the newest number:
//
//	{"type":"epoch","epoch":"5f1c…","seq":17}
//
// Where from.Since is of another epoch, or newer than the newest number, the
// second is a gap that begins at 0, since nobody can say what was missed; all
// that the ring holds follows. Close the subscription when done.
func (h *Hub) Subscribe(match func(name string) bool, from From) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers++
	newest := h.next - 1
	s := &Subscription{hub: h, match: match, cursor: h.next, end: math.MaxUint64, first: appendHello(nil, h.epoch, newest)}
	if from.Once {
		s.end = newest
	}
	switch {
	case from.Since == nil:
	case from.Epoch != "" && from.Epoch != h.epoch, *from.Since > newest:
		s.cursor = h.oldest
		s.first = appendGap(s.first, h.epoch, 0, h.oldest-1)
		h.gaps++
	default:
		s.cursor = *from.Since + 1
		s.behind = h.archive != nil
	}
	return s
}

// Next appends the next records, one or more, each ended by a newline, to dst.
// It waits while there are none; what is there is returned even when ctx has
// ended. A record
//
//	{"type":"gap","from":5,"to":90,"epoch":"5f1c…"}
//
// stands for all numbers from 5 to 90, whether they matched or not, which left
// the ring before they were read. The error is io.EOF at the end of the stream,
// or that of ctx; dst is then returned as it came.
func (s *Subscription) Next(ctx context.Context, dst []byte) ([]byte, error) {
	had := len(dst)
	for {
		if dst = s.catchUp(ctx, dst); len(dst) > had {
			return dst, nil
		}
		var wake <-chan struct{}
		var err error
		dst, wake, err = s.take(dst)
		if err != nil {
			return dst, err
		}
		dst = s.copy(dst)
		if len(dst) > had {
			return dst, nil
		}
		if wake == nil {
			continue // there was something, for others
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return dst, ctx.Err()
		}
	}
}

// catchUp appends what the archive has, until the ring has what is next. When
// the archive cannot be read, take makes a gap of it.
func (s *Subscription) catchUp(ctx context.Context, dst []byte) []byte {
	for had := len(dst); s.behind && len(dst) == had; {
		oldest := s.hub.first()
		if s.cursor >= oldest || s.cursor > s.end {
			s.behind = false
			break
		}
		past, through, err := s.hub.archive.Since(ctx, s.cursor-1, min(oldest-1, s.end))
		if err != nil || through < s.cursor {
			s.behind = false
			break
		}
		dst, s.first = append(dst, s.first...), nil
		for _, p := range past {
			dst = s.appendPast(dst, p)
		}
		s.cursor = through + 1
	}
	return dst
}

func (s *Subscription) appendPast(dst []byte, p Past) []byte {
	switch {
	case p.Missing > 0:
		return appendGap(dst, s.hub.epoch, p.Seq, p.Missing)
	case s.match == nil || s.match(p.Name):
		line := len(dst)
		dst = p.Encode(p.Seq, dst)
		return append(dst[:line], oneLine(dst[line:])...)
	}
	return dst
}

// take moves the cursor over the next batch, which it leaves in s.batch, and
// appends what the hub itself has to say. The channel is nil unless there is
// nothing to read.
func (s *Subscription) take(dst []byte) ([]byte, <-chan struct{}, error) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	had := len(dst)
	dst, s.first = append(dst, s.first...), nil
	if s.cursor < h.oldest && s.cursor <= s.end {
		dst = appendGap(dst, h.epoch, s.cursor, h.oldest-1)
		s.cursor = h.oldest
		h.gaps++
	}
	for size := 0; s.cursor < h.next && s.cursor <= s.end && size < batchBytes; s.cursor++ {
		r := h.ring[s.cursor%uint64(len(h.ring))]
		s.read(r)
		size += len(r.line)
	}
	switch {
	case len(s.batch) > 0 || len(dst) > had:
		return dst, nil, nil
	case h.closed || s.cursor > s.end:
		return dst, nil, io.EOF
	}
	if h.wake == nil {
		h.wake = make(chan struct{})
	}
	return dst, h.wake, nil
}

// read puts r into the batch, and keeps its memory from being used again.
func (s *Subscription) read(r record) {
	s.batch = append(s.batch, r)
	if n := len(s.chunks); r.chunk != nil && (n == 0 || s.chunks[n-1] != r.chunk) {
		r.chunk.readers.Add(1)
		s.chunks = append(s.chunks, r.chunk)
	}
}

// copy appends the records of the batch that match. It needs no lock: lines
// do not change while somebody reads them.
func (s *Subscription) copy(dst []byte) []byte {
	for _, r := range s.batch {
		if s.match == nil || s.match(r.name) {
			dst = append(dst, r.line...)
		}
	}
	clear(s.batch) // an idle subscriber must not keep what the ring has dropped
	s.batch = s.batch[:0]
	for _, c := range s.chunks {
		c.readers.Add(-1)
	}
	clear(s.chunks)
	s.chunks = s.chunks[:0]
	return dst
}

// Close ends the subscription. It may be called more than once, not while Next
// runs.
func (s *Subscription) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.subscribers--
}
