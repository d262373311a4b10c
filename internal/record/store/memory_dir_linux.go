package store

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tmpfs is the type of a file system in memory, statfs(2).
const tmpfs = 0x01021994

// sharedMemory is where Linux has one for all users, shm_overview(7).
const sharedMemory = "/dev/shm"

// MemoryDir returns the folder of Options.Memory for the database at path, in a folder that
// only this user can change: in $XDG_RUNTIME_DIR, which only the user can write to, else in
// the memory of all users. A folder that a killed predecessor has left is used, wherever it is. The
// result is "" where there is none; err says which folder is in the way, and the command to type. Folders
// of databases that are not there any more are removed.
func MemoryDir(path string) (dir string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path))
	name := fmt.Sprintf("%x", sum[:8])
	for _, folder := range memoryFolders() {
		if folderErr := makeOwn(folder); folderErr != nil {
			err = errors.Join(err, folderErr)
			continue
		}
		sweepMemory(folder)
		at := filepath.Join(folder, name)
		// The first folder is taken where none has it.
		if _, missing := os.Lstat(at); missing == nil {
			return at, nil
		}
		dir = cmp.Or(dir, at)
	}
	if dir != "" {
		err = nil
	}
	return dir, err
}

// memoryFolders are the folders of this user in memory, the best one first.
func memoryFolders() (list []string) {
	var st syscall.Statfs_t
	if own := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(own) && isOwn(own) == nil &&
		syscall.Statfs(own, &st) == nil && st.Type == tmpfs {
		list = append(list, filepath.Join(own, "hookd"))
	}
	if syscall.Statfs(sharedMemory, &st) == nil && st.Type == tmpfs {
		list = append(list, filepath.Join(sharedMemory, fmt.Sprintf("hookd-%d", os.Geteuid())))
	}
	return list
}

// makeOwn makes a folder for this user alone; the error says that it is not.
func makeOwn(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return isOwn(dir)
}

// isOwn is an error for a file that is not a folder of this user alone: another user may have made it.
func isOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case owner != os.Geteuid():
		return fmt.Errorf("%s is in the way, it is owned by user %d: type `sudo rm -r %[1]s`", dir, owner)
	case info.Mode() != fs.ModeDir|0o700:
		return fmt.Errorf("%s is in the way, it is no folder with mode 0700: type `rm -r %[1]s`", dir)
	}
	return nil
}

// sweepMemory removes the folders in dir whose databases are not there any more.
func sweepMemory(dir string) {
	entries, _ := os.ReadDir(dir) // what cannot be read stays
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		to, err := os.Readlink(filepath.Join(folder, databaseLink))
		if err == nil {
			_, err = os.Lstat(to)
		}
		if errors.Is(err, os.ErrNotExist) {
			_ = os.RemoveAll(folder)
		}
	}
}
