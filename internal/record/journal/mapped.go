package journal

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
)

// MappedFiles returns files of the operating system that are written to by copying into a
// mapping of them: for a folder in memory. An Append makes no system call then. An ordinary one
// may wake the thread of Go's scheduler that watches system calls, which costs more than
// the write; see package nowait.
func MappedFiles() Files { return mappedFiles{} }

type mappedFiles struct{ osFiles }

func (mappedFiles) Create(path string) (File, error) {
	f, err := create(path)
	return &mappedFile{osFile: f}, err
}

// mappedFile is mapped when it is first written over: from then on it does not grow.
type mappedFile struct {
	osFile

	mu   sync.Mutex // guards all below
	size int64      // that was written
	page []byte     // the mapping; nil = there is none
	err  error      // why the mapping cannot be used any more
}

// WriteAt fits File.
func (f *mappedFile) WriteAt(b []byte, at int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := at + int64(len(b))
	if f.page == nil && f.err == nil && end <= f.size && f.size <= math.MaxInt {
		f.page, _ = syscall.Mmap(int(f.Fd()), 0, int(f.size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	switch {
	case f.err != nil:
		return 0, f.err
	case end > int64(len(f.page)): // it grows, or cannot be mapped
		n, err = f.File.WriteAt(b, at)
		f.size = max(f.size, at+int64(n))
		return n, err
	}
	return f.copy(b, at)
}

// copy writes to the mapping. Where another process has cut the file off, that must not end
// this one.
func (f *mappedFile) copy(b []byte, at int64) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("write %s: %w: %v", f.Name(), ErrGone, p)
			n, err = 0, f.err
		}
	}()
	return copy(f.page[at:], b), nil
}

// Close fits File.
func (f *mappedFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.page != nil {
		_ = syscall.Munmap(f.page) // its arguments are right
		f.page = nil
	}
	f.err = os.ErrClosed
	return f.File.Close()
}
