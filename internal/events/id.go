package events

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"time"
)

// crockford is the alphabet of a ULID: in the order of the bits, without
// letters that look like digits.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ids makes ULIDs: 48 bits of milliseconds and 80 random bits. Within one
// millisecond, and when the clock steps back, the last id is counted up, so
// that every id of a process is greater than those before it.
type ids struct {
	mu     sync.Mutex
	ms     uint64
	hi, lo uint64 // the 80 random bits: 16 and 64
}

var process ids

// IsID reports whether s has the form of an id, in large or small letters.
func IsID(s string) bool {
	if len(s) != 26 || s[0] < '0' || s[0] > '7' {
		return false
	}
	return strings.Trim(strings.ToUpper(s), crockford) == ""
}

// NewID returns the id of an event accepted at t: a ULID of 26 characters,
// greater as a string than every id that this process made before.
func NewID(t time.Time) string { return process.next(t) }

// NewRunID returns the id of a run, from the same sequence as NewID.
func NewRunID(t time.Time) string { return process.next(t) }

func (s *ids) next(t time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ms := uint64(max(t.UnixMilli(), 0)); ms > s.ms {
		s.ms = ms
		s.draw()
	} else {
		s.count()
	}
	return encodeULID(s.ms, s.hi, s.lo)
}

// draw takes new random bits.
func (s *ids) draw() {
	var b [10]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	s.hi = uint64(binary.BigEndian.Uint16(b[:2]))
	s.lo = binary.BigEndian.Uint64(b[2:])
}

// count adds one to the random bits; past their end the next millisecond begins.
func (s *ids) count() {
	if s.lo++; s.lo != 0 {
		return
	}
	if s.hi++; s.hi <= 0xffff {
		return
	}
	s.ms++
	s.draw()
}

// encodeULID spells 128 bits in 26 characters of 5 bits, the first of them 3.
func encodeULID(ms, hi, lo uint64) string {
	var out [26]byte
	high := ms<<16 | hi // the upper 64 bits
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | high<<59
		high >>= 5
	}
	return string(out[:])
}
