package undo

import "golang.org/x/sys/unix"

// clone makes a new file that shares the blocks of from. After an error there is none.
func clone(from, dir int, name string) error {
	return uninterrupted(func() error { return unix.Fclonefileat(from, dir, name, 0) })
}

// swap exchanges two names in one step. done is false where the file system cannot.
func swap(dirA int, a string, dirB int, b string) (done bool, err error) {
	err = uninterrupted(func() error { return unix.RenameatxNp(dirA, a, dirB, b, unix.RENAME_SWAP) })
	if err == unix.ENOTSUP || err == unix.EINVAL {
		return false, nil
	}
	return err == nil, err
}

// place renames a file to a name that must be free.
func place(fromDir int, from string, toDir int, to string) error {
	err := uninterrupted(func() error { return unix.RenameatxNp(fromDir, from, toDir, to, unix.RENAME_EXCL) })
	if err == unix.ENOTSUP || err == unix.EINVAL {
		return placeByLink(fromDir, from, toDir, to)
	}
	return err
}

// reserve does nothing here: a full disk is found when the file is written to.
func reserve(int, int64, int64) error { return nil }
