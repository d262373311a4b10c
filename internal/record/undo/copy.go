package undo

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"

	"golang.org/x/sys/unix"
)

// Reasons why a file is not kept.
var (
	errLate    = errors.New("there was no time")
	errLarge   = errors.New("it is too large to copy")
	errCap     = errors.New("the vault is full, see undo.max_bytes, and it is too large to copy")
	errFull    = errors.New("the disk is too full")
	errChanged = errors.New("it was written to meanwhile")
	errNever   = errors.New("undo.never names it")
	errOther   = errors.New("they may have the bytes that the call writes")
	errMoved   = errors.New("it is kept for this call no more: an undo in `hookd undo` may have it")
	errOwner   = errors.New("hookd may not give it to another user")
)

// piece is how much is copied between two looks at the clock.
const piece = 1 << 20

// copyFile copies the bytes of a file into a new one, and leaves its holes. It gives up once the time is over;
// over may be nil. After an error there is no new file.
func copyFile(from *os.File, size int64, dir int, name string, over func() bool) (err error) {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	defer func() {
		if err = errors.Join(err, to.Close()); err != nil {
			_ = unix.Unlinkat(dir, name, 0)
		}
	}()
	for start, end := range stretches(from, 0, size) {
		if err := copyRange(from, to, start, end, over); err != nil {
			return err
		}
	}
	return to.Truncate(size)
}

// stretches are the parts of a file between two offsets that have data; where the file system does not say, all.
func stretches(f *os.File, at, size int64) iter.Seq2[int64, int64] {
	return func(yield func(start, end int64) bool) {
		for at < size {
			start, end, ok := data(int(f.Fd()), at)
			if !ok && room(f, size) == size {
				start, end, ok = at, size, true
			}
			if !ok || start >= size || !yield(start, min(end, size)) {
				return
			}
			at = max(end, at+1)
		}
	}
}

// data says where a sparse file has data: the next stretch at or after from. ok is false where
// there is no more, or the file system does not say.
func data(fd int, from int64) (start, end int64, ok bool) {
	start, err := unix.Seek(fd, from, unix.SEEK_DATA)
	if err != nil { // then all of it is read
		return 0, 0, false
	}
	end, err = unix.Seek(fd, start, unix.SEEK_HOLE)
	return start, end, err == nil
}

// room is how much of a disk a copy of a file takes: its holes take none.
func room(f *os.File, size int64) int64 {
	var s unix.Stat_t
	if unix.Fstat(int(f.Fd()), &s) != nil {
		return size
	}
	return min(size, int64(s.Blocks)*512)
}

func copyRange(from, to *os.File, start, end int64, over func() bool) error {
	buffer := make([]byte, min(piece, max(end-start, 1)))
	for at := start; at < end; {
		if over != nil && over() {
			return errLate
		}
		n, err := from.ReadAt(buffer[:min(int64(len(buffer)), end-at)], at)
		if n > 0 {
			if _, err := to.WriteAt(buffer[:n], at); err != nil {
				return err
			}
			at += int64(n)
			continue
		}
		if err != nil { // it has become shorter
			return errChanged
		}
	}
	return nil
}

// openToRead opens a file below a folder that is open, and does not wait for a writer of a FIFO
// that has taken its place.
func openToRead(dir int, name string) (*os.File, error) {
	fd := -1
	err := uninterrupted(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openFolder opens a folder below an open one; no link is followed.
func openFolder(dir int, name string) (fd int, err error) {
	err = uninterrupted(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// maxAttributes bounds the extended attributes of one file, in bytes.
const maxAttributes = 64 << 10

// attributes returns the extended attributes of an open file; nil where it has none or the file
// system knows none.
func attributes(fd int) map[string][]byte {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n == 0 {
		return nil
	}
	names := make([]byte, maxAttributes)
	if n, err = unix.Flistxattr(fd, names); err != nil {
		return nil
	}
	list, value := map[string][]byte{}, make([]byte, maxAttributes)
	for start, i := 0, 0; i < n; i++ {
		if names[i] != 0 {
			continue
		}
		name := string(names[start:i])
		start = i + 1
		if m, err := unix.Fgetxattr(fd, name, value); err == nil {
			list[name] = append([]byte{}, value[:m]...)
		}
	}
	return list
}

// attributesOf are the extended attributes of a file or folder by its path; nil where it cannot be opened.
func attributesOf(path string) map[string][]byte {
	f, err := openToRead(unix.AT_FDCWD, path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return attributes(int(f.Fd()))
}

// sameXattr reports whether a path whose owner or permissions a call may change has its extended attributes still.
func (e *entry) sameXattr() bool {
	return e.Effect != effectMode || e.Was.Kind != kindFile && e.Was.Kind != kindDir ||
		maps.EqualFunc(e.Xattr, attributesOf(string(e.Path)), bytes.Equal)
}

// placeByLink gives a file another name, which must be free, where a rename cannot promise that.
func placeByLink(fromDir int, from string, toDir int, to string) error {
	if err := uninterrupted(func() error { return unix.Linkat(fromDir, from, toDir, to, 0) }); err != nil {
		return err
	}
	return unix.Unlinkat(fromDir, from, 0)
}
