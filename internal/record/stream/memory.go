package stream

import (
	"sync/atomic"
)

const (
	chunkSize = 32 << 10
	chunkRest = chunkSize / 8 // with less room than this, a chunk is full
)

// memory is where records are written, one behind the other in chunks, so that
// one costs none of its own: a flood of events would have the garbage collector
// run a hundred times a second. Hub.mu guards it.
type memory struct {
	last  *chunk // where the next record goes
	spare *chunk // to be used again
}

// chunk is memory that records share. It can be used again when the ring has
// dropped all of them and no subscriber reads in it.
type chunk struct {
	buf     []byte
	records int          // in the ring; guarded by Hub.mu
	readers atomic.Int32 // goes up only under Hub.mu
}

// record encodes a record in its place. The data of a large one is not copied.
func (m *memory) record(name string, seq uint64, encode Encoder, data []byte) record {
	line := encode(seq, m.room())
	if data == nil {
		line = oneLine(line)
	}
	r := record{name: name, data: data}
	m.place(&r, line)
	return r
}

// room is where the next record goes: empty, with a capacity of at least chunkRest.
func (m *memory) room() []byte {
	if m.last == nil || cap(m.last.buf)-len(m.last.buf) < chunkRest {
		m.next()
	}
	return m.last.buf[len(m.last.buf):]
}

// place notes in r where line is, which was appended to room. One for which that was too small
// has memory of its own from append.
func (m *memory) place(r *record, line []byte) {
	c := m.last
	used := len(c.buf)
	r.line = line[:len(line):len(line)]
	if room := c.buf[used : used+1]; &room[0] == &line[0] {
		c.buf = c.buf[:used+len(line)]
		c.records++
		r.chunk, r.from = c, used
	}
}

func (m *memory) next() {
	m.last, m.spare = m.spare, nil
	if m.last == nil {
		m.last = &chunk{buf: make([]byte, 0, chunkSize)}
	}
	m.last.buf = m.last.buf[:0]
}

// drop notes that the ring has one record of c less.
func (m *memory) drop(c *chunk) {
	if c == nil {
		return
	}
	if c.records--; c.records == 0 && c != m.last && c.readers.Load() == 0 {
		m.spare = c
	}
}
