package undo

import "golang.org/x/sys/unix"

// clone makes a new file that shares the blocks of from. After an error there is none.
func clone(from, dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err = uninterrupted(func() error { return unix.IoctlFileClone(fd, from) }); err != nil {
		_ = unix.Unlinkat(dir, name, 0)
	}
	return err
}

// swap exchanges two names in one step. done is false where the file system cannot.
func swap(dirA int, a string, dirB int, b string) (done bool, err error) {
	err = uninterrupted(func() error { return unix.Renameat2(dirA, a, dirB, b, unix.RENAME_EXCHANGE) })
	if err == unix.EINVAL || err == unix.ENOSYS {
		return false, nil
	}
	return err == nil, err
}

// place renames a file to a name that must be free.
func place(fromDir int, from string, toDir int, to string) error {
	err := uninterrupted(func() error { return unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE) })
	if err == unix.EINVAL || err == unix.ENOSYS {
		return placeByLink(fromDir, from, toDir, to)
	}
	return err
}

// reserve makes room for a part of a file before it is written over, so that a full disk is found in time.
func reserve(fd int, start, size int64) error {
	err := uninterrupted(func() error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, start, max(size, 1)) })
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		return nil
	}
	return err
}
