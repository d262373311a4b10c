package proc

import (
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/nowait"
)

// stream is our end of a pipe that the process writes to.
type stream struct {
	sink
	fd int // -1 once every writer has closed it
}

// drainLimit bounds the bytes read after the process has ended: at least the bytes that
// were in the pipe by then (a pipe holds up to 1 MiB), but not for ever when a
// background child goes on writing.
const drainLimit = 1 << 20

// read reads up to one buffer without blocking. It returns nil when there is
// nothing to read, and closes the stream at its end.
func (s *stream) read(buf []byte) []byte {
	b, ended := s.readOpen(buf)
	if ended {
		s.close()
	}
	return b
}

// readOpen is read for a stream that the caller closes.
func (s *stream) readOpen(buf []byte) (b []byte, ended bool) {
	n, err := nowait.TryRead(s.fd, buf)
	switch {
	case err == unix.EAGAIN:
		return nil, false
	case err != nil || n == 0:
		return nil, true
	}
	return buf[:n], false
}

// drain reads the bytes in the pipe.
func (s *stream) drain(buf []byte) {
	for taken := 0; s.fd >= 0 && taken < drainLimit; {
		b := s.read(buf)
		if len(b) == 0 {
			return
		}
		s.add(b)
		taken += len(b)
	}
}

func (s *stream) close() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}
