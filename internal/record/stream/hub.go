// Package stream numbers records and lets all subscribers read them.
//
// A Hub holds one ring of records, each a line of JSON, shared by all
// subscribers; a subscriber is no more than a cursor into it. Publish and its kin give a
// record the next sequence number and put it in the ring: they never wait for
// a subscriber, start no goroutine and write nowhere, so a stopped
// subscriber costs no other anything. A subscriber that the ring has overtaken
// gets one gap record and goes on with the oldest record that is left. A subscriber that
// was overtaken in the middle of a large record, which is read in pieces, ends.
// So the memory that subscribers hold is bounded by the ring, however many are stopped.
//
// Records are read in the order of their numbers, which are the numbers of one epoch:
// of one Hub, or of all that continue one another. Records that the ring has dropped are
// read from the Archive, where there is one, by a subscriber that begins back
// there; a subscriber that was overtaken while it read may come back so.
package stream

import (
	"bytes"
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/events"
)

const (
	defaultSize     = 1024
	defaultMaxBytes = 16 << 20
	stallTime       = 5 * time.Second
)

// Options bound the ring. The newest record is kept whatever its size.
type Options struct {
	Size     int // records; 0 = 1,024
	MaxBytes int // sum of their lengths; 0 = 16 MiB

	First   uint64  // the first number; 0 = 1
	Epoch   string  // of the numbers; "" = a new one
	Archive Archive // of what left the ring; nil = there is none

	// About fills in the tool, the subject and the call of an event that is Unread. It is given the
	// event's Contract, Dialect and Data. It may be called by several goroutines at once.
	// nil = no record has them.
	About func(e *events.Event)
}

// An Archive has the records that have left the ring. Since returns records above after and
// up to upto in the order of their numbers, some of them or all, and the last
// number that this answers for. It may wait for the disk. One subscriber at a
// time calls it: an answer may be as large as one record.
type Archive interface {
	Since(ctx context.Context, after, upto uint64) (records []Archived, through uint64, err error)
}

// Archived is a record from an Archive, or a stretch of numbers that it has no
// records for although there were some: Seq to Missing, when that is not 0.
type Archived struct {
	Seq     uint64
	Name    string
	Encode  Encoder
	Data    []byte // follows what Encode appends, as with PublishLarge; nil = that is all
	Missing uint64
}

// An Encoder appends one JSON object, the record with number seq, to dst. It
// runs while the Hub is locked: prepare slow parts before, and never call
// the Hub from it.
type Encoder func(seq uint64, dst []byte) []byte

// A Hub is one stream. Its methods may be called from any goroutine.
type Hub struct {
	epoch    string
	maxBytes int
	archive  Archive       // nil = none
	reading  chan struct{} // has one token: to read from the archive
	about    func(e *events.Event)
	stalled  time.Duration // after which a subscriber that reads nothing loses what it holds of the archive

	starters atomic.Int32 // subscribers that ask for starts

	subscribers atomic.Int32 // now

	mu           sync.Mutex // guards the fields below
	ring         []record   // the record with number n is at n % len(ring)
	oldest, next uint64     // kept are oldest to next-1
	bytes        int
	memory       memory
	wake         chan struct{} // closed by the next Publish; nil while no subscriber waits
	closed       bool
	starts       starts
	gaps         uint64
}

type record struct {
	name  string
	line  []byte // ends in a newline unless data follows, not changed while the ring or a reader has it
	data  []byte // of a large one: what follows line, before largeEnd
	chunk *chunk // where line is; nil = in memory of its own
	from  int    // index of line in its chunk
	last  bool   // of a large one that is read in pieces: this is the last
	about about  // of an event that does not tell what it is about
	whole []byte // all of data, of a first piece

	encode Encoder // makes line when it is first read; nil = line is there
	holds  int     // about how many bytes encode keeps in memory
}

// largeEnd ends a record whose data stands apart.
const largeEnd = "}\n"

func (r *record) size() int { return len(r.line) + len(r.data) + r.holds }

// Stats are the counts of a Hub.
type Stats struct {
	Seq         uint64 // newest number, 0 = none yet
	Subscribers int    // now
	Gaps        uint64 // gap records given since the start
}

// New makes a Hub.
func New(opt Options) *Hub {
	if opt.Size <= 0 {
		opt.Size = defaultSize
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = defaultMaxBytes
	}
	if opt.Epoch == "" {
		opt.Epoch = rand.Text()
	}
	opt.First = max(opt.First, 1)
	return &Hub{
		epoch: opt.Epoch, maxBytes: opt.MaxBytes, archive: opt.Archive,
		about: opt.About, reading: make(chan struct{}, 1), stalled: stallTime,
		ring: make([]record, opt.Size), oldest: opt.First, next: opt.First,
	}
}

// Epoch names the sequence of numbers; those of another mean nothing here.
func (h *Hub) Epoch() string { return h.epoch }

// Stats returns the counts of this moment.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Stats{Seq: h.next - 1, Subscribers: int(h.subscribers.Load()), Gaps: h.gaps}
}

// Watched reports whether there are subscribers.
func (h *Hub) Watched() bool { return h.subscribers.Load() > 0 }

// Publish gives the record that encode appends the next number and returns
// it. name is the event's name, which subscribers are matched against.
func (h *Hub) Publish(name string, encode Encoder) uint64 {
	return h.publish(name, encode, nil, about{})
}

// PublishLate is Publish for a record that is encoded only when a subscriber reads it, which
// mostly none does. Data that encode reads must not change any more; holds is about how many bytes
// of memory that takes.
func (h *Hub) PublishLate(name string, encode Encoder, holds int) uint64 {
	if h.Watched() {
		return h.Publish(name, encode)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	seq := h.next
	h.keep(record{name: name, encode: encode, holds: holds})
	h.call()
	return seq
}

// at returns the record with a number that the ring holds. The caller holds mu, as long as it
// reads the record.
func (h *Hub) at(seq uint64) *record {
	r := &h.ring[seq%uint64(len(h.ring))]
	if r.encode != nil {
		h.bytes -= r.size()
		*r = h.memory.record(r.name, seq, r.encode, nil)
		h.bytes += r.size()
	}
	return r
}

// PublishLarge publishes a record and encodes only its head while the
// Hub is locked. Data follows the head as it is, then a closing brace: it must be of
// one line, and must not change any more.
func (h *Hub) PublishLarge(name string, head Encoder, data []byte) uint64 {
	return h.publish(name, head, data, about{})
}

func (h *Hub) publish(name string, encode Encoder, data []byte, about about) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	seq := h.next
	r := h.memory.record(name, seq, encode, data)
	r.about = about
	h.keep(r)
	h.call()
	return seq
}

// call wakes the subscribers that wait for a record. The caller holds mu.
func (h *Hub) call() {
	if h.wake != nil {
		close(h.wake)
		h.wake = nil
	}
}

// first returns the oldest number in the ring.
func (h *Hub) first() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.oldest
}

// keep puts a record into the ring. The caller holds mu.
func (h *Hub) keep(r record) {
	*h.slot() = r
	h.kept()
}

// slot returns the place of the next record, which is empty: a record is written there without a
// copy. kept has to be called when the record is in it. The caller holds mu.
func (h *Hub) slot() *record {
	if h.next-h.oldest >= uint64(len(h.ring)) {
		h.drop()
	}
	return &h.ring[h.next%uint64(len(h.ring))]
}

func (h *Hub) kept() {
	h.bytes += h.ring[h.next%uint64(len(h.ring))].size()
	for h.oldest < h.next && h.bytes > h.maxBytes {
		h.drop()
	}
	h.next++
}

// drop takes the oldest record out of the ring.
func (h *Hub) drop() {
	old := &h.ring[h.oldest%uint64(len(h.ring))]
	h.bytes -= old.size()
	h.memory.drop(old.chunk)
	*old = record{}
	h.oldest++
}

// Close ends the stream: subscribers read the rest, then io.EOF. A record that is
// published afterwards still gets a number.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.call()
}

// oneLine ends the record with a newline, its only one.
func oneLine(rec []byte) []byte { return append(blankLineEnds(rec), '\n') }

// blankLineEnds takes the line ends out. JSON has them only between tokens,
// where a blank does as well; a sender's own object may be spread over lines.
func blankLineEnds(rec []byte) []byte {
	for _, end := range []byte{'\n', '\r'} {
		for i := 0; ; {
			n := bytes.IndexByte(rec[i:], end)
			if n < 0 {
				break
			}
			i += n
			rec[i] = ' '
		}
	}
	return rec
}

func appendHello(dst []byte, epoch string, seq uint64) []byte {
	dst = append(dst, `{"type":"epoch","epoch":"`...)
	dst = append(dst, epoch...)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	return append(dst, "}\n"...)
}

func appendGap(dst []byte, epoch string, from, to uint64) []byte {
	dst = append(dst, `{"type":"gap","from":`...)
	dst = strconv.AppendUint(dst, from, 10)
	dst = append(dst, `,"to":`...)
	dst = strconv.AppendUint(dst, to, 10)
	dst = append(dst, `,"epoch":"`...)
	dst = append(dst, epoch...)
	return append(dst, "\"}\n"...)
}
