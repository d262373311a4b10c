// Package journal is a log of records in preallocated files that are used again.
//
// Promises. A record whose Append returned nil is found by the next Open, whatever
// happened to the process in between (Options.Sync: also to the machine), as long as Free
// has not passed it. Append takes many records and waits for the disk once. Records come
// back in the order appended. Nothing is written after the remains of a crash: each Open
// begins a new segment, so that the remains of an earlier one are never taken for new.
//
// Failure. After a write or a sync that failed, the records of that Append are void, the
// file is never written again, and each Append fails with the same error until Renew has
// begun another segment, which says where the last good one ends. A segment that was
// deleted is noticed by the next Append that looks (Options.Look), which then fails with ErrGone.
// Open removes only files that it understands and that are not needed. A read that fails is its error,
// or sets the file aside (Options.SetAside). Parts that are damaged, and segments that are
// missing, are in Found; the file of a damaged one stays under a second name.
//
// Limits. The journal knows nothing about the meaning of records, keeps none in memory, and
// does not lock its folder: its owner has to.
package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// SegmentBytes is the size of a segment in a journal that is in use. The first segment of a
// process is a part of that size, and the next ones grow: a daemon with few events needs no more. A
// record that is larger gets a segment of its own.
const (
	SegmentBytes = 16 << 20
	firstPart    = 16
	growth       = 4
)

// sparing is how many times as much as a segment must be free for it not to be small.
const sparing = 8

// spares is how many files are kept for later use.
const spares = 2

// Callers tell these errors apart with errors.Is.
var (
	ErrGone    = errors.New("the journal was deleted or cut off")
	ErrDamaged = errors.New("a record of the journal is damaged")
	ErrNewer   = errors.New("it was written by a newer hookd")
)

// Options of a Journal. Dir and Owner are required.
type Options struct {
	Dir    string   // made if it is missing, 0700
	Owner  string   // names the database that the records belong to, 128 bytes at most
	Former []string // its names before, whose segments are read as well
	Adopt  bool     // segments of any owner are read; else those of others are set aside
	Sync   bool     // a record survives a loss of power
	Bytes  int64    // of a segment; 0 = SegmentBytes

	Confirmed Pos  // up to here an earlier process has confirmed records, at the least; zero = that is not known
	SetAside  bool // a file that cannot be read is set aside; else Open fails with the error

	// Look is the time between two looks of Append whether the segment was deleted. A look takes as
	// long as an Append to memory. Records appended in between to a deleted segment are lost with
	// the process. 0 = each Append looks.
	Look time.Duration

	Files Files // nil = those of the operating system
}

// Pos is a place in a journal. Places are in the order in which records were
// appended. The zero Pos is before all of them.
type Pos struct {
	Segment uint64
	Offset  int64
}

// Before reports whether p comes before q.
func (p Pos) Before(q Pos) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// Item is one record to append: a number that its owner finds it by, and two parts that
// can be read apart. It is not changed until Append has returned.
type Item struct {
	Number     uint64
	Head, Body []byte
}

// size is the size of a record in its segment.
func (r Item) size() int64 { return aligned(int64(recordHeader + len(r.Head) + len(r.Body))) }

// Entry is where a record is.
type Entry struct {
	Pos
	Number     uint64
	Head, Body uint32 // bytes
}

// Bytes is the size of the record on disk.
func (e Entry) Bytes() int64 { return aligned(int64(recordHeader) + int64(e.Head) + int64(e.Body)) }

// Journal is safe for concurrent use.
type Journal struct {
	opts  Options
	files Files

	writing sync.Mutex // guards all up to mu; held while the disk is waited for
	buf     []byte
	making  chan made // nil = no segment is being made
	last    uint64    // number of the newest segment
	slots   uint64    // names of files that were given
	size    int64     // of the next segment that is made
	good    Pos       // the end of what Append has confirmed
	closed  bool
	looked  time.Time // when Append looked last whether the segment was deleted

	coming atomic.Int64 // bytes of the segment that is being made

	mu       sync.Mutex // guards all below; never held while the disk is waited for
	segments []*segment // with records that were not freed, in order; the last one is written to
	spare    []*segment // to be used again
	broken   error      // why the last segment is not written to any more
}

// made is a segment that was made beside the others.
type made struct {
	segment *segment
	err     error
}

// Append writes records and returns where they are once the disk has them. None of them
// counts when it fails.
func (j *Journal) Append(records []Item) ([]Entry, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.Broken(); err != nil {
		return nil, err
	}
	entries, touched, err := j.write(records)
	look := j.opts.Look == 0 || time.Since(j.looked) > j.opts.Look
	for _, s := range touched {
		if err == nil && j.opts.Sync {
			err = s.file.Sync()
		}
		if err == nil && look {
			err, j.looked = s.present(), time.Now()
		}
	}
	if err != nil {
		return nil, j.fail(fmt.Errorf("append to journal %s: %w", j.opts.Dir, err))
	}
	if n := len(touched); n > 0 {
		last := touched[n-1]
		j.good = Pos{last.number, last.end}
		if last.end > last.size/2 {
			j.ahead()
		}
	}
	return entries, nil
}

// fail has all that is appended fail with err, which it returns.
func (j *Journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
	return err
}

// maxBuffer is how much is gathered for one write.
const maxBuffer = 1 << 20

// write writes records without waiting for the disk. It returns the segments that they
// are in.
func (j *Journal) write(records []Item) (entries []Entry, touched []*segment, err error) {
	entries = make([]Entry, 0, len(records))
	var s *segment
	var from int64 // where buf belongs
	flush := func() error {
		if len(j.buf) == 0 {
			return nil
		}
		_, err := s.file.WriteAt(j.buf, from)
		from, j.buf = from+int64(len(j.buf)), j.buf[:0]
		return err
	}
	j.buf = j.buf[:0]
	for _, r := range records {
		if s == nil || s.end+r.size() > s.size {
			if err := flush(); err != nil {
				return nil, touched, err
			}
			if s, err = j.room(r.size()); err != nil {
				return nil, touched, err
			}
			touched, from = append(touched, s), s.end
		}
		entries = append(entries, Entry{Pos{s.number, s.end}, r.Number, uint32(len(r.Head)), uint32(len(r.Body))})
		large := len(r.Body) > maxBuffer
		j.buf = appendRecord(j.buf, s.number, r, !large)
		s.end += r.size()
		if large { // not copied
			at := from + int64(len(j.buf))
			if err := flush(); err != nil {
				return nil, touched, err
			}
			if _, err := s.file.WriteAt(r.Body, at); err != nil {
				return nil, touched, err
			}
			from = s.end
		}
		if len(j.buf) >= maxBuffer {
			if err := flush(); err != nil {
				return nil, touched, err
			}
		}
	}
	return entries, touched, flush()
}

// room returns the segment that a record of size bytes is written to.
func (j *Journal) room(size int64) (*segment, error) {
	after := j.good
	if s := j.newest(); s != nil {
		if !s.sealed && s.end+size <= s.size {
			return s, nil
		}
		after = Pos{s.number, s.end} // which may be of this Append, and is synced with it
	}
	return j.begin(after, size)
}

// newest returns the segment that was begun last and not freed; nil = there is none.
func (j *Journal) newest() *segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.segments); n > 0 {
		return j.segments[n-1]
	}
	return nil
}

// begin starts a segment with room for size bytes, after the last write.
func (j *Journal) begin(after Pos, size int64) (*segment, error) {
	if j.closed {
		return nil, errors.New("it is closed")
	}
	s, err := j.take(size)
	if err != nil {
		return nil, err
	}
	j.last++ // also when it fails: what is half written is not to be mistaken for the next one
	s.number, s.end = j.last, segmentHeader
	if _, err := s.file.WriteAt(s.header(j.opts.Owner, after), 0); err != nil {
		s.discard(j.files)
		return nil, err
	}
	j.mu.Lock()
	j.segments = append(j.segments, s)
	j.mu.Unlock()
	return s, nil
}

// take returns a file for a segment with room for size bytes.
func (j *Journal) take(size int64) (*segment, error) {
	j.made()
	for s := j.takeSpare(size); s != nil; s = j.takeSpare(size) {
		if s.present() == nil {
			return s, nil
		}
		s.discard(j.files)
	}
	least := max(j.opts.Bytes/firstPart, aligned(segmentHeader+size))
	m := j.make(j.slot(), max(j.grow(), least))
	if errors.Is(m.err, syscall.ENOSPC) || errors.Is(m.err, syscall.EDQUOT) {
		m = j.make(j.slot(), least)
	}
	return m.segment, m.err
}

// takeSpare takes a file with room for size bytes; nil = there is none.
func (j *Journal) takeSpare(size int64) (s *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.spare, func(s *segment) bool { return segmentHeader+size <= s.size })
	if i >= 0 {
		s = j.spare[i]
		j.spare = slices.Delete(j.spare, i, i+1)
	}
	return s
}

func (j *Journal) keepSpare(s *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spare = append(j.spare, s)
}

// grow returns the size of the next segment: a small part of the free space.
func (j *Journal) grow() int64 {
	size := j.size
	if free, err := j.files.Free(j.opts.Dir); err == nil && free < sparing*size {
		return j.opts.Bytes / firstPart
	}
	j.size = min(j.size*growth, j.opts.Bytes)
	return size
}

// slot returns a name for a file.
func (j *Journal) slot() string {
	j.slots++
	return filepath.Join(j.opts.Dir, fmt.Sprintf("%d%s", j.slots, suffix))
}

// ahead makes the next segment while this one is filled.
func (j *Journal) ahead() {
	j.mu.Lock()
	n := len(j.spare)
	j.mu.Unlock()
	if n > 0 || j.making != nil {
		return
	}
	making, path, size := make(chan made, 1), j.slot(), j.grow()
	j.making = making
	j.coming.Store(size)
	go func() { making <- j.make(path, size) }()
}

// made waits for the segment that is being made and keeps it.
func (j *Journal) made() {
	if j.making == nil {
		return
	}
	if m := <-j.making; m.err == nil {
		j.keepSpare(m.segment)
	}
	j.making = nil
	j.coming.Store(0)
}

// make creates a file of zeros: to write over them is faster than to append.
func (j *Journal) make(path string, size int64) made {
	s, err := createSegment(j.files, path, size, j.opts.Sync)
	if err == nil && j.opts.Sync {
		if err = j.files.SyncDir(j.opts.Dir); err != nil {
			s.discard(j.files)
		}
	}
	if err != nil {
		return made{err: fmt.Errorf("make segment %s: %w", path, err)}
	}
	return made{segment: s}
}

// Renew begins another segment after a failure; records that Append has confirmed before that
// stay. The file that failed is not written to again.
func (j *Journal) Renew() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	err := j.files.MkdirAll(j.opts.Dir)
	if err == nil {
		j.drop()
		var s *segment
		if s, err = j.begin(j.good, 0); err == nil && j.opts.Sync {
			err = s.file.Sync()
		}
	}
	if err != nil {
		return j.fail(fmt.Errorf("begin a segment of journal %s: %w", j.opts.Dir, err))
	}
	j.good = Pos{j.last, segmentHeader}
	j.fail(nil)
	return nil
}

// drop forgets the segments that a failed Append has begun, and files whose state is not known.
func (j *Journal) drop() {
	j.mu.Lock()
	gone := j.spare
	j.spare = nil
	for n := len(j.segments); n > 0 && j.segments[n-1].number > j.good.Segment; n = len(j.segments) {
		gone = append(gone, j.segments[n-1])
		j.segments = j.segments[:n-1]
	}
	if n := len(j.segments); n > 0 {
		j.segments[n-1].end, j.segments[n-1].sealed = j.good.Offset, true
	}
	j.mu.Unlock()
	for _, s := range gone {
		s.discard(j.files)
	}
}

// Broken returns why Append fails; nil = it does not.
func (j *Journal) Broken() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken
}

// Free lets all segments be used again that have nothing from p on.
func (j *Journal) Free(p Pos) {
	j.mu.Lock()
	n := 0
	for n < len(j.segments)-1 && j.segments[n].number < p.Segment {
		n++
	}
	freed, room := slices.Clone(j.segments[:n]), spares-len(j.spare)
	j.segments = slices.Delete(j.segments, 0, n)
	j.mu.Unlock()
	for _, s := range freed {
		if s.size == j.opts.Bytes && room > 0 && !s.sealed && s.present() == nil {
			room--
			j.keepSpare(s)
			continue
		}
		s.discard(j.files)
	}
}

// Size is the size of the journal on disk, in bytes. It never waits.
func (j *Journal) Size() (bytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, list := range [][]*segment{j.segments, j.spare} {
		for _, s := range list {
			bytes += s.size
		}
	}
	return bytes + j.coming.Load()
}

// Next is the place where the next journal in this folder begins when nothing in this one
// is needed any more.
func (j *Journal) Next() Pos {
	j.writing.Lock()
	defer j.writing.Unlock()
	return Pos{Segment: j.last + 1}
}

// Close closes the files; with empty it removes them: nothing in them is needed.
func (j *Journal) Close(empty bool) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.closed = true
	j.made()
	j.mu.Lock()
	segments, spare := j.segments, j.spare
	j.segments, j.spare = nil, nil
	j.mu.Unlock()
	for _, s := range spare {
		s.discard(j.files)
	}
	for _, s := range segments {
		if empty {
			s.discard(j.files)
		} else {
			s.file.Close()
		}
	}
}
