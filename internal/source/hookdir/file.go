package hookdir

import (
	"errors"
	"fmt"
	"syscall"
)

// readRegular reads a file up to limit bytes, which is never nil, and says
// whether there are more. It opens nothing that could block for ever, and uses
// the system's calls themselves: with package os each of thousands of small
// files costs three times as many.
func readRegular(path string, limit int) (data []byte, more bool, err error) {
	fd, err := uninterrupted(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket
		return nil, false, errors.New("not a regular file")
	case err != nil:
		return nil, false, fmt.Errorf("read: %w", err)
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, false, fmt.Errorf("read: %w", err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, false, errors.New("not a regular file")
	}
	data = make([]byte, min(int64(limit), st.Size)+1) // one more: there may be no second read
	for size := 0; ; {
		n, err := uninterrupted(func() (int, error) { return syscall.Read(fd, data[size:]) })
		if err != nil {
			return nil, false, fmt.Errorf("read: %w", err)
		}
		if size += n; size < len(data) || size > limit { // a short read is the end
			return data[:min(size, limit)], size > limit, nil
		}
		data = append(data, make([]byte, min(len(data), limit+1-size))...) // it has grown
	}
}

// uninterrupted repeats a call that a signal interrupted.
func uninterrupted(call func() (int, error)) (n int, err error) {
	for n, err = call(); errors.Is(err, syscall.EINTR); n, err = call() {
	}
	return n, err
}
