package readfile

import "syscall"

// Pieces calls each with the bytes of the regular file at path, in pieces of size bytes at
// most. A piece begins with the last overlap bytes of the piece before, so that a shorter
// text is whole in one of them. A piece is overwritten when each has returned. The file
// may be of any length. Each error is an *fs.PathError.
func Pieces(path string, size, overlap int, each func(piece []byte)) error {
	return reading(path, func() error { return pieces(path, size, overlap, each) })
}

func pieces(path string, size, overlap int, each func([]byte)) error {
	fd, _, err := open(path)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	piece, old := make([]byte, size), 0
	for at := 0; ; {
		n, err := uninterrupted(func() (int, error) { return syscall.Read(fd, piece[at:]) })
		if err != nil {
			return err
		}
		at += n
		if n > 0 && at < size {
			continue
		}
		if at > old {
			each(piece[:at])
		}
		if n == 0 {
			return nil
		}
		old = copy(piece, piece[max(at-overlap, 0):at])
		at = old
	}
}
