package store

import (
	"encoding/binary"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
)

// given is the greatest number that was given away, in a page of memory that is
// also a file: it outlives the process however that ends, and noting a number
// waits for no disk. What has a number up to it and is not in the database is
// missing; the numbers from it to those that were reserved were never used.
//
// After a crash of the machine the file may be older than the database: it
// names the boot that it was written in, and counts for that one only.
type given struct {
	mu   sync.Mutex
	page []byte // nil = there is none: then all reserved numbers count as given
}

// The page: the number, then the boot it was written in, then the epoch of the
// numbers.
const (
	givenPage  = 4096
	givenBoot  = 8
	givenEpoch = 64
	givenEnd   = 128
)

// openGiven maps f, and returns the number in it when it is of this epoch and
// boot.
func openGiven(f *os.File, epoch string) (g *given, last uint64, known bool) {
	g = &given{}
	if f.Truncate(givenPage) != nil {
		return g, 0, false
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, givenPage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return g, 0, false
	}
	g.page = page
	g.use(func(page []byte) {
		var head [givenEnd - givenBoot]byte
		copy(head[:], bootID())
		copy(head[givenEpoch-givenBoot:], epoch)
		if known = string(page[givenBoot:givenEnd]) == string(head[:]); known {
			last = binary.LittleEndian.Uint64(page)
			return
		}
		clear(page[:givenBoot])
		copy(page[givenBoot:], head[:])
	})
	return g, last, known
}

// note takes down that seq was given. It costs a few nanoseconds.
func (g *given) note(seq uint64) {
	g.use(func(page []byte) {
		if seq > binary.LittleEndian.Uint64(page) {
			binary.LittleEndian.PutUint64(page, seq)
		}
	})
}

// use calls f with the page. When another process has cut the file off, the
// page cannot be used any more, which must not end this one.
func (g *given) use(f func(page []byte)) {
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

func (g *given) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.page != nil {
		syscall.Munmap(g.page)
		g.page = nil
	}
}
