package proc

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/readfile"
)

// headBytes is the number of bytes that preread reads of a program: more than the
// system reads before exec is over.
const headBytes = 4096

// maxInterpreters is how many scripts may name each other as interpreter, execve(2).
const maxInterpreters = 5

var scratchHead = sync.Pool{New: func() any { return new([headBytes]byte) }}

// preread reads the files that the system reads when it starts the process: its
// directory, the program, and the interpreters and the loader that this names. A
// file whose disk does not answer blocks here, in a call that Go's scheduler knows
// of. In the fork it would block one of Go's processors, and with the next garbage
// collection the whole program. Errors are left for the start to report.
func preread(s *Spec) {
	looks := s.Looks
	if looks == nil {
		looks = func(string) {}
	}
	if s.Dir != "" {
		looks(s.Dir)
		unix.Access(s.Dir, unix.X_OK)
	}
	buf := scratchHead.Get().(*[headBytes]byte)
	defer scratchHead.Put(buf)
	path := s.Path
	for range maxInterpreters + 1 {
		looks(path)
		if path = next(path, buf[:]); path == "" {
			return
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
	}
}

// next reads the beginning of a program and returns the interpreter or loader that
// the system opens to start it; "" = none.
func next(path string, buf []byte) (found string) {
	var st unix.Stat_t
	if unix.Access(path, unix.X_OK) != nil || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	readfile.Apart(path, func() { found = named(path, buf) })
	return found
}

// named is next for a regular file.
func named(path string, buf []byte) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	n, _ := unix.Pread(fd, buf, 0) // the exec reads it again, and fails
	head := buf[:max(n, 0)]
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if interp, ok := interpreter(line); ok {
		return interp
	}
	return loader(fd, head)
}

// loader returns the program that loads the libraries of an ELF file, elf(5); "" if
// it names none, or cannot run on a machine that hookd supports.
func loader(fd int, head []byte) string {
	const interp = 3 // PT_INTERP
	if len(head) < 64 || !bytes.HasPrefix(head, []byte("\x7fELF")) || head[5] != 1 {
		return ""
	}
	little := binary.LittleEndian
	wide := head[4] == 2
	table := int64(little.Uint32(head[28:]))
	size, count := int(little.Uint16(head[42:])), int(little.Uint16(head[44:]))
	least, offsetAt, lengthAt := 32, 4, 16
	if wide {
		table = int64(little.Uint64(head[32:]))
		size, count = int(little.Uint16(head[54:])), int(little.Uint16(head[56:]))
		least, offsetAt, lengthAt = 56, 8, 32
	}
	number := func(b []byte) int64 {
		if wide {
			return int64(little.Uint64(b))
		}
		return int64(little.Uint32(b))
	}
	if size < least || table < 0 {
		return ""
	}
	for i := range min(count, headBytes/size) {
		row := part(fd, head, table+int64(i)*int64(size), int64(size))
		if row == nil {
			return ""
		}
		if little.Uint32(row) == interp {
			name, _, _ := bytes.Cut(part(fd, head, number(row[offsetAt:]), number(row[lengthAt:])), []byte{0})
			return string(name)
		}
	}
	return ""
}

// part returns n bytes of a file from off on, nil if it is shorter. head is the
// beginning of the file.
func part(fd int, head []byte, off, n int64) []byte {
	if off < 0 || n <= 0 || n > headBytes {
		return nil
	}
	if off <= int64(len(head))-n {
		return head[off : off+n]
	}
	b := make([]byte, n)
	if got, err := unix.Pread(fd, b, off); err != nil || int64(got) < n {
		return nil
	}
	return b
}
