package readfile

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// fuseMagic marks file systems that a process serves, statfs(2).
const fuseMagic = 0x65735546

// Apart calls f, which opens and closes the file at path, and returns when it has.
// While a file of a process's own file system (FUSE) is open, a fork has a copy of the
// open file. The exec in the child closes the copy, for which the serving process is asked: a
// process that does not answer would hold each start, and with it the whole program. So
// such a file is opened by a thread that shares its descriptors with no other, and ends
// with f.
func Apart(path string, f func()) {
	if !served(path) {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if syscall.Unshare(syscall.CLONE_FILES) == nil {
			closeCopies()
		}
		f()
	}()
	<-done
}

// served reports whether a process may serve the file system of path, as a process that
// does not know statfs does. A path that is not there cannot be opened.
func served(path string) bool {
	var st syscall.Statfs_t
	switch err := syscall.Statfs(path, &st); err {
	case nil:
		return uint32(st.Type) == fuseMagic
	case syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES:
		return false
	default:
		return true
	}
}

// closeCopies closes the descriptors that the thread has copies of, as they would keep
// pipes and sockets open. Go's scheduler may need its own on any thread.
func closeCopies() {
	const own = "/proc/thread-self/fd"
	entries, _ := os.ReadDir(own) // an error leaves copies open
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		what, _ := os.Readlink(own + "/" + e.Name())       // one that is closed already
		if !strings.HasPrefix(what, "anon_inode:[event") { // eventpoll, eventfd
			syscall.Close(fd)
		}
	}
}
