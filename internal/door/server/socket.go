package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/peer/listener"
)

// maxPath is the longest socket path the system takes: 107 bytes on Linux,
// 103 on macOS. One byte of the field ends it.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// checkLength exists because the system only says "invalid argument".
func checkLength(path string) error {
	if len(path) <= maxPath {
		return nil
	}
	return fmt.Errorf(
		"socket path %s has %d bytes, this system allows %d: set LIBREFANG_HOME or `socket:` to a shorter one in a folder that is yours alone",
		path,
		len(path),
		maxPath,
	)
}

// socketMode is who may connect: this user alone, or every user.
func (o Options) socketMode() os.FileMode {
	if o.Public {
		return 0o666
	}
	return 0o600
}

// folderMode is that of the socket's folder, where it has to be made.
func (o Options) folderMode() os.FileMode {
	if o.Public {
		return 0o755
	}
	return 0o700
}

// bind makes the socket, with a mode that no umask changes. The lock must be held;
// before is the pid of the daemon that held it before, 0 = none.
func bind(path string, mode os.FileMode, before int) (net.Listener, error) {
	if err := removeStale(path, before); err != nil {
		return nil, err
	}
	l, err := listenPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("bind %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// checkGiven checks the socket that a service manager has bound: it must be the socket that
// clients look for, and still be there. It must be open to no more users than mode says.
func checkGiven(l net.Listener, path string, mode os.FileMode) error {
	bound := l.Addr().String()
	if !samePath(bound, path) {
		return fmt.Errorf(
			"take the service manager's socket: it is %s, the settings say %s: make them the same, in hookd.socket (ListenStream=) or hookd.yaml (socket:)",
			bound,
			path,
		)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf(
			"take the service manager's socket: %w: make it again with: systemctl --user restart hookd.socket",
			err,
		)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf(
			"take the service manager's socket: %s is none any more: move that away, then type: systemctl --user restart hookd.socket",
			path,
		)
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	return os.Chmod(path, mode)
}

// samePath reports whether two paths name one socket, by whatever links their
// folders are reached.
func samePath(a, b string) bool {
	dirA, errA := os.Stat(filepath.Dir(a))
	dirB, errB := os.Stat(filepath.Dir(b))
	return filepath.Base(a) == filepath.Base(b) && errA == nil && errB == nil && os.SameFile(dirA, dirB)
}

// removeStale removes the socket that a killed daemon left. The lock has said
// that no daemon of this home runs; one of another home may have been given
// the same socket. It waits up to killedPatience for a process that the killed daemon, with
// the pid before, was about to start: that may hold the socket longer than the lock.
func removeStale(path string, before int) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf(
			"remove %s: not a socket, so hookd leaves it alone: move it away, or set `socket:` to another path",
			path,
		)
	}
	for begin := time.Now(); ; time.Sleep(waitStep) {
		process, err := listener.Of(path)
		full := errors.Is(err, unix.EAGAIN) // as many connections as fit wait to be taken
		switch {
		case errors.Is(err, unix.ECONNREFUSED):
			return os.Remove(path)
		case (full || err == nil && process.PID == before) && before != 0 && time.Since(begin) < killedPatience:
			continue
		case err != nil && !full:
			return fmt.Errorf("probe %s: %w", path, err)
		}
		return fmt.Errorf(
			"bind %s: another process listens there: stop it (a service manager's, with: systemctl --user stop hookd.socket), or set `socket:` to another path",
			path,
		)
	}
}

// listenWith binds; binding does not block, so there is nothing to cancel.
func listenWith(lc net.ListenConfig, path string) (net.Listener, error) {
	return lc.Listen(context.Background(), "unix", path)
}
