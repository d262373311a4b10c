package stream

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"time"
)

// batchBytes ends a batch: about the size of one write to a local socket.
const batchBytes = 64 << 10

// From says where a subscription begins and ends. The zero value follows the
// stream from now on.
type From struct {
	Since  *uint64 // records after this number; nil = from now
	Epoch  string  // of Since; empty = this one
	Once   bool    // end at the record that is the newest now
	Starts bool    // with the starts of runs from now on
}

// A Subscription reads the stream at its own pace. It belongs to one
// goroutine.
type Subscription struct {
	hub   *Hub
	match func(name string) bool

	first  []byte   // what comes before any record
	cursor uint64   // the next number to read
	end    uint64   // the last number to read
	behind bool     // what is next may be in the archive
	batch  []record // those that are next to each other in memory are one, see join
	chunks []*chunk // that the batch is in
	done   int      // bytes that were read of the data of record cursor, when it is large
	old    *oldData // what is read of the archive; nil = nothing
	closed bool

	starts    bool   // with starts
	nextStart uint64 // among all starts
}

// errCut ends a subscription in the middle of a large record.
var errCut = errors.New("the record left the ring while it was read")

// oldData is the data of a large record from the archive; one such record is
// in memory at a time. It is taken from a subscriber that stops reading.
type oldData struct {
	mu    sync.Mutex
	rest  []byte
	over  bool // it was given back
	timer *time.Timer
	hub   *Hub
}

func (h *Hub) holdOld(data []byte) *oldData {
	o := &oldData{rest: data, hub: h}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(h.stalled, o.drop)
	return o
}

// drop gives the data back, once.
func (o *oldData) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	o.timer.Stop()
	o.rest, o.over = nil, true
	<-o.hub.reading
}

// piece appends the next piece; end reports that it was the last one.
func (o *oldData) piece(dst []byte) (_ []byte, end bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return dst, false, errCut
	}
	o.timer.Reset(o.hub.stalled)
	n := min(batchBytes, len(o.rest))
	dst, o.rest = append(dst, o.rest[:n]...), o.rest[n:]
	return dst, len(o.rest) == 0, nil
}

// Subscribe begins a subscription to the records whose name match accepts; nil
// accepts all. The first record has the epoch and the newest number:
//
//	{"type":"epoch","epoch":"5f1c…","seq":17}
//
// Where from.Since is of another epoch, or newer than the newest number, the
// second is a gap that begins at 0, since the missed records are unknown; all
// that the ring holds follows. Close the subscription when done.
func (h *Hub) Subscribe(match func(name string) bool, from From) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers.Add(1)
	newest := h.next - 1
	s := &Subscription{
		hub:    h,
		match:  match,
		cursor: h.next,
		end:    math.MaxUint64,
		first:  appendHello(nil, h.epoch, newest),
	}
	if s.starts = from.Starts; s.starts {
		s.nextStart = h.starts.first + uint64(len(h.starts.list))
		h.starters.Add(1)
	}
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

// Next appends the next records, one or more, each ended by a newline, to dst;
// of a large one a piece, whose rest the next calls append.
// It waits while there are none; records that are there are returned even when ctx has
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
		var err error
		if dst, err = s.catchUp(ctx, dst); err != nil || len(dst) > had {
			return dst, err
		}
		var wake <-chan struct{}
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

// catchUp appends records of the archive, until the ring has the next one. When
// the archive cannot be read, take makes a gap instead; looking for long is no
// reason for one.
func (s *Subscription) catchUp(ctx context.Context, dst []byte) ([]byte, error) {
	if s.old != nil {
		return s.copyOld(dst)
	}
	for had := len(dst); s.behind && len(dst) == had; {
		oldest := s.hub.first()
		if s.cursor >= oldest || s.cursor > s.end {
			s.behind = false
			break
		}
		select {
		case s.hub.reading <- struct{}{}:
		case <-ctx.Done():
			return dst, ctx.Err()
		}
		records, through, err := s.hub.archive.Since(ctx, s.cursor-1, min(oldest-1, s.end))
		more := err == nil && through >= s.cursor
		if more {
			dst, s.first = append(dst, s.first...), nil
			for _, p := range records {
				if dst = s.appendArchived(dst, p); s.old != nil { // what follows comes after its data
					through = p.Seq
					break
				}
			}
			s.cursor = through + 1
		}
		if s.old == nil {
			<-s.hub.reading
		}
		if !more && ctx.Err() != nil {
			return dst, ctx.Err()
		}
		s.behind = more
	}
	return dst, nil
}

func (s *Subscription) appendArchived(dst []byte, p Archived) []byte {
	switch {
	case p.Missing > 0:
		return appendGap(dst, s.hub.epoch, p.Seq, p.Missing)
	case s.match != nil && !s.match(p.Name):
		return dst
	case p.Data != nil:
		s.old = s.hub.holdOld(p.Data)
		return p.Encode(p.Seq, dst)
	}
	line := len(dst)
	dst = p.Encode(p.Seq, dst)
	return append(dst[:line], oneLine(dst[line:])...)
}

// copyOld appends a piece of the large record that the archive gave.
func (s *Subscription) copyOld(dst []byte) ([]byte, error) {
	dst, end, err := s.old.piece(dst)
	if end {
		s.old.drop()
		s.old = nil
		dst = append(dst, largeEnd...)
	}
	return dst, err
}

// take moves the cursor over the next batch, which it leaves in s.batch, and
// appends the hub's own records. The channel is nil unless there is
// nothing to read.
func (s *Subscription) take(dst []byte) ([]byte, <-chan struct{}, error) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	had := len(dst)
	dst, s.first = append(dst, s.first...), nil
	if s.done > 0 && s.cursor < h.oldest {
		return dst, nil, errCut
	}
	if s.cursor < h.oldest && s.cursor <= s.end {
		dst = appendGap(dst, h.epoch, s.cursor, h.oldest-1)
		s.cursor = h.oldest
		h.gaps++
	}
	for size := 0; s.cursor < h.next && s.cursor <= s.end && size < batchBytes; s.cursor++ {
		s.readStarts()
		r := h.at(s.cursor)
		switch {
		case r.data == nil:
		case s.match != nil && !s.match(r.name):
			continue
		case len(s.batch) > 0:
			return dst, nil, nil // it begins with the next call
		default:
			if r = s.piece(r); !r.last {
				s.read(r)
				return dst, nil, nil
			}
		}
		size += r.size()
		s.read(r)
	}
	s.readStarts()
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

// piece is the next piece of a large record.
func (s *Subscription) piece(large *record) *record {
	r := *large
	if s.done > 0 {
		r.line, r.chunk, r.about = nil, nil, about{}
	}
	r.whole = r.data
	from, to := s.done, min(s.done+batchBytes, len(r.data))
	if s.done, r.last = to, to == len(r.data); r.last {
		s.done = 0
	}
	r.data = r.data[from:to]
	return &r
}

// read puts r into the batch, and keeps its memory from being used again.
func (s *Subscription) read(r *record) {
	if n := len(s.batch); n > 0 && s.batch[n-1].join(r) {
		return
	}
	s.batch = append(s.batch, *r)
	if n := len(s.chunks); r.chunk != nil && (n == 0 || s.chunks[n-1] != r.chunk) {
		r.chunk.readers.Add(1)
		s.chunks = append(s.chunks, r.chunk)
	}
}

// join makes next a part of r, if it has the same name and stands right behind r in memory: so
// most records of a batch are matched and copied as one. The caller holds Hub.mu.
func (r *record) join(next *record) bool {
	end := r.from + len(r.line)
	adjoins := r.chunk != nil && r.chunk == next.chunk && end == next.from
	if !adjoins || !r.plain() || !next.plain() || r.name != next.name {
		return false
	}
	end += len(next.line)
	r.line = r.chunk.buf[r.from:end:end]
	return true
}

// plain reports whether a subscriber gets line as it is, and nothing else.
func (r *record) plain() bool { return r.data == nil && r.about.contract == nil }

// copy appends the records of the batch that match. It needs no lock: lines
// do not change while a subscriber reads them.
func (s *Subscription) copy(dst []byte) []byte {
	for _, r := range s.batch {
		if s.match == nil || s.match(r.name) {
			if r.about.contract == nil {
				dst = append(dst, r.line...)
			} else {
				dst = s.hub.appendUnread(dst, &r)
			}
			dst = append(dst, r.data...)
			if r.last {
				dst = append(dst, largeEnd...)
			}
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
	if s.old != nil {
		s.old.drop()
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.subscribers.Add(-1)
	if s.starts {
		s.hub.starters.Add(-1)
	}
}
