package replacefile

import (
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

// shared is the folder below which every user may read, with a slash behind it; nil = none.
var shared atomic.Pointer[string]

// Share has this package's functions make the files that they write below folder readable
// for every user, until stop is called: root writes files there that the system daemon
// reads as another user. A file that is readable a moment after it has its name is unknown
// for that moment, and a guard that is unknown denies. It sets the umask of the process,
// so it is called before other goroutines write.
func Share(folder string) (stop func()) {
	folder += "/"
	was, mask := shared.Swap(&folder), syscall.Umask(0o022)
	return func() {
		shared.Store(was)
		syscall.Umask(mask)
	}
}

// isShared reports whether a path is below the shared folder.
func isShared(path string) bool {
	folder := shared.Load()
	return folder != nil && strings.HasPrefix(path+"/", *folder)
}

// FileMode is the mode of a new file: for the user alone, and for every user to read below
// a shared folder.
func FileMode(path string, exec bool) fs.FileMode {
	mode := fs.FileMode(0o600)
	if isShared(path) {
		mode = 0o644
	}
	if exec {
		mode |= mode >> 2 & 0o111
	}
	return mode
}

// FolderMode is the mode of a new folder, see FileMode.
func FolderMode(path string) fs.FileMode { return FileMode(path, true) }

// MkdirAll makes a folder, and the missing folders above it.
func MkdirAll(dir string) error { return os.MkdirAll(dir, FolderMode(dir)) }

// MkdirTemp makes a folder with a new name in dir, as os.MkdirTemp does.
func MkdirTemp(dir, pattern string) (string, error) {
	made, err := os.MkdirTemp(dir, pattern) // 0700
	if err == nil && isShared(made) {
		err = os.Chmod(made, FolderMode(made))
	}
	return made, err
}
