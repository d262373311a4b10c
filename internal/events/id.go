package events

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/wire"
)

// ids makes ULIDs: 48 bits of milliseconds and 80 random bits. Within one millisecond,
// and when the clock steps back, the last id is counted up, so that every id of a
// process is greater than the ids before it.
type ids struct {
	mu   sync.Mutex
	ms   uint64         // of the last one
	last [idLength]byte // zero = there is none
}

// idLength is how many characters an id has.
const idLength = wire.IDLength

// crockford is the alphabet of an id.
const crockford = wire.IDAlphabet

// randomAt is where the random bits begin in the text of an id.
const randomAt = 10

var process ids

// NewID returns the id of an event accepted at t: a ULID of 26 characters,
// greater as a string than every id that this process made before.
func NewID(t time.Time) string { return process.next(t) }

// NewRunID returns the id of a run, from the same sequence as NewID.
func NewRunID(t time.Time) string { return process.next(t) }

func (s *ids) next(t time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(t)
	return string(s.last[:])
}

// advance makes the next id the last one. The caller holds mu.
func (s *ids) advance(t time.Time) {
	ms := uint64(max(t.UnixMilli(), 0))
	switch {
	case ms > s.ms || s.last[0] == 0:
		s.draw(ms)
	case !s.count():
		s.draw(s.ms + 1)
	}
}

// draw takes new random bits.
func (s *ids) draw(ms uint64) {
	var b [10]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	s.ms, s.last = ms, encodeULID(ms, uint64(binary.BigEndian.Uint16(b[:2])), binary.BigEndian.Uint64(b[2:]))
}

// count adds one to the random bits, as they stand in the text: that mostly
// changes one character. It is false past their end.
func (s *ids) count() bool {
	for i := len(s.last) - 1; i >= randomAt; i-- {
		if digit := strings.IndexByte(crockford, s.last[i]); digit < len(crockford)-1 {
			s.last[i] = crockford[digit+1]
			return true
		}
		s.last[i] = crockford[0]
	}
	return false
}

// encodeULID spells 128 bits, 48 of ms and 16 of hi, in 26 characters of 5 bits,
// the first of them 3.
func encodeULID(ms, hi, lo uint64) (out [idLength]byte) {
	high := ms<<16 | hi // the upper 64 bits
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | high<<59
		high >>= 5
	}
	return out
}
