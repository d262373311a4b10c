package store

import (
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
// only this user can change; "" where there is none. It removes folders of databases that are
// not there any more.
func MemoryDir(path string) string {
	path, err := filepath.Abs(path)
	var st syscall.Statfs_t
	if err != nil || syscall.Statfs(sharedMemory, &st) != nil || st.Type != tmpfs {
		return ""
	}
	dir := filepath.Join(sharedMemory, fmt.Sprintf("hookd-%d", os.Geteuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	info, err := os.Lstat(dir) // another user may have made it
	if err != nil || info.Mode() != fs.ModeDir|0o700 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return ""
	}
	sweepMemory(dir)
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(dir, fmt.Sprintf("%x", sum[:8]))
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
