// Package readfile is the one way in which hookd reads files that a person, an agent or
// a repository has written: settings, hooks, agents' files. It opens only regular
// files, never blocks on a pipe or a device, never reads more than its limit, and
// checks the file that it has opened, not the path again.
//
// A file system that does not answer blocks it, see Patience.
package readfile

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Limit is the largest settings file, hook's file or agent's file, in bytes.
const Limit = 4 << 20

var (
	// ErrNotRegular is the error for a pipe, a device, a socket or a folder.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is the error for a file that is larger than the limit.
	ErrTooLarge = errors.New("too large")
)

// tooLarge is the limit that a file exceeds.
type tooLarge int

func (t tooLarge) Error() string { return fmt.Sprintf("larger than %d bytes", int(t)) }

func (t tooLarge) Is(err error) bool { return err == ErrTooLarge }

// Read returns the bytes of the regular file at path, never nil. More than
// limit bytes are an error that wraps ErrTooLarge. Each error is an
// *fs.PathError.
//
// It uses the system's calls themselves: with package os each of thousands of
// small files costs three times as many.
func Read(path string, limit int) (data []byte, err error) {
	return ReadStat(path, limit, nil)
}

// ReadStat is Read, and fills st, unless it is nil, with the state of the file that it has
// read, after its bytes: the path may lead to another one by now.
func ReadStat(path string, limit int, st *syscall.Stat_t) (data []byte, err error) {
	err = reading(path, func() (err error) { data, err = read(path, limit, st); return err })
	return data, err
}

// reading calls read apart, and makes its error an *fs.PathError.
func reading(path string, read func() error) (err error) {
	Apart(path, func() { err = read() })
	if err != nil {
		return &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return nil
}

// Head returns the first bytes of the regular file at path, at most n.
func Head(path string, n int) (data []byte, err error) {
	err = reading(path, func() (err error) { data, err = head(path, n); return err })
	return data, err
}

func head(path string, n int) ([]byte, error) {
	fd, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	data := make([]byte, n)
	size, err := uninterrupted(func() (int, error) { return syscall.Read(fd, data) })
	if err != nil {
		return nil, err
	}
	return data[:size], nil
}

func read(path string, limit int, st *syscall.Stat_t) ([]byte, error) {
	fd, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	if size > int64(limit) {
		return nil, tooLarge(limit)
	}
	data, known := make([]byte, size+1), size > 0 // one more: there may be no second read
	for at := 0; ; {
		n, err := uninterrupted(func() (int, error) { return syscall.Read(fd, data[at:]) })
		if err != nil {
			return nil, err
		}
		at += n
		switch {
		case at > limit:
			return nil, tooLarge(limit)
		case at < len(data) && (known || n == 0): // a short read is the end, unless the size is unknown
			if st == nil {
				return data[:at], nil
			}
			return data[:at], syscall.Fstat(fd, st)
		case at == len(data): // it has grown
			data = append(data, make([]byte, min(len(data), limit+1-at))...)
		}
	}
}

// open opens a regular file and returns its size.
func open(path string) (fd int, size int64, err error) {
	fd, err = uninterrupted(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	})
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket
		return 0, 0, ErrNotRegular
	case err != nil:
		return 0, 0, err
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		syscall.Close(fd)
		return 0, 0, err
	}
	return fd, st.Size, nil
}

// uninterrupted repeats a call that a signal interrupted.
func uninterrupted(call func() (int, error)) (n int, err error) {
	for n, err = call(); errors.Is(err, syscall.EINTR); n, err = call() {
	}
	return n, err
}

// Cause is err without the operation and the path that an *fs.PathError repeats.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
