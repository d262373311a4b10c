package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/hookd/hookd/internal/record/journal"
)

// crashPage has the greatest number that was given away, in a page of memory that is
// also a file: it outlives the process however that ends, and noting a number
// waits for no disk. A number up to it that is not in the database is
// missing; the numbers from it to the reserved ones were never used.
//
// After a crash of the machine the file may be older than the database: it
// names the boot that it was written in, and counts for that boot only.
type crashPage struct {
	mu   sync.Mutex
	page []byte // nil = there is none: then all reserved numbers count as given
}

// The page: the number, then the boot it was written in, then the epoch of the
// numbers, then marks. A mark is a number, and its complement beside it.
const (
	pageBytes = 4096
	pageBoot  = 8
	pageEpoch = 64
	pageMarks = 128

	markConfirmed = 128 // the end of the journal that an Append has confirmed: segment << 32 | offset / 8
	markPending   = 144 // runs
	markCommits   = 160 // of the database
	marksEnd      = 176
)

// marks are the notes of an earlier process about its files. Zero values are not known.
type marks struct {
	epoch     string
	boot      bool        // the machine was not started since
	confirmed journal.Pos // the journal goes up to here, at the least
	pending   uint64      // runs, when the process ended
	commits   uint64      // that the database had, at the least where boot is true
}

// readMarks reads the marks of the process before. f is not mapped yet.
func readMarks(f *os.File) (m marks, err error) {
	page := make([]byte, marksEnd)
	n, err := f.ReadAt(page, 0)
	switch {
	case errors.Is(err, io.EOF): // a file that is new
		clear(page[n:])
	case err != nil:
		return m, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	le := binary.LittleEndian
	mark := func(at int) uint64 {
		if v := le.Uint64(page[at:]); v == ^le.Uint64(page[at+8:]) {
			return v
		}
		return 0
	}
	m.epoch = string(bytes.TrimRight(page[pageEpoch:pageMarks], "\x00"))
	boot := string(bytes.TrimRight(page[pageBoot:pageEpoch], "\x00"))
	m.boot = boot != "" && boot == bootID()
	if v := mark(markConfirmed); m.epoch != "" && v > 0 {
		m.confirmed = journal.Pos{Segment: v >> 32, Offset: int64(v&(1<<32-1)) << 3}
	}
	m.pending, m.commits = mark(markPending), mark(markCommits)
	return m, nil
}

// mark notes a number in the page.
func (g *crashPage) mark(at int, v uint64) {
	g.use(func(page []byte) {
		binary.LittleEndian.PutUint64(page[at:], v)
		binary.LittleEndian.PutUint64(page[at+8:], ^v)
	})
}

// confirm notes the end of the journal.
func (g *crashPage) confirm(p journal.Pos) { g.mark(markConfirmed, p.Segment<<32|uint64(p.Offset)>>3) }

// openCrashPage maps f, and returns the number in it when it is of this epoch and
// boot.
func openCrashPage(f *os.File, epoch string) (g *crashPage, last uint64, known bool) {
	g = &crashPage{}
	if f.Truncate(pageBytes) != nil {
		return g, 0, false
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, pageBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return g, 0, false
	}
	g.page = page
	g.use(func(page []byte) {
		var head [pageMarks - pageBoot]byte
		copy(head[:], bootID())
		copy(head[pageEpoch-pageBoot:], epoch)
		if known = string(page[pageBoot:pageMarks]) == string(head[:]); known {
			last = binary.LittleEndian.Uint64(page)
			return
		}
		if string(page[pageEpoch:pageMarks]) != string(head[pageEpoch-pageBoot:]) {
			clear(page[markConfirmed:marksEnd])
		}
		clear(page[:pageBoot])
		copy(page[pageBoot:], head[:])
	})
	return g, last, known
}

// note takes down that seq was given. It costs a few nanoseconds.
func (g *crashPage) note(seq uint64) {
	g.use(func(page []byte) {
		if seq > binary.LittleEndian.Uint64(page) {
			binary.LittleEndian.PutUint64(page, seq)
		}
	})
}

// use calls f with the page. When another process has cut the file off, the
// page cannot be used any more, which must not end this one.
func (g *crashPage) use(f func(page []byte)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.page == nil {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			g.page = nil
		}
	}()
	f(g.page)
}

func (g *crashPage) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.page != nil {
		syscall.Munmap(g.page)
		g.page = nil
	}
}
