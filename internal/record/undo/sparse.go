package undo

import "golang.org/x/sys/unix"

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
