// Package peertest makes, for tests, sockets on which another user listens.
// It needs root and skips a test by name without it. Programs do not import it.
package peertest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// OtherUser is the uid of a user that owns nothing here.
const OtherUser = 65534

// ListenAs listens at path as the user uid: for the kernel the listening process is
// that user's, and so is the socket's file, which is open to all, in a folder that is
// made writable for all.
func ListenAs(t testing.TB, uid int, path string) net.Listener {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP-TOOL root: only root can listen as another user")
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	type listening struct {
		net.Listener
		err error
	}
	made := make(chan listening)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
		if errno != 0 {
			made <- listening{nil, errno}
			return
		}
		l, err := net.Listen("unix", path)
		if err == nil {
			err = os.Chmod(path, 0o666)
		}
		made <- listening{l, err}
	}()
	l := <-made
	if l.err != nil {
		if l.Listener != nil {
			l.err = errors.Join(l.err, l.Close())
		}
		t.Fatal(l.err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Listener
}
