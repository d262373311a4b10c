package watchdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const mask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_CLOSE_WRITE |
	unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

type system struct{ inotify *os.File }

// New returns a Watcher of nothing.
func New() (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	w := &Watcher{changed: make(chan struct{}, 1), system: system{os.NewFile(uintptr(fd), "inotify")}}
	go w.read()
	return w, nil
}

// Close ends the reports.
func (w *Watcher) Close() { w.inotify.Close() }

// Watch makes these the names that are watched. A folder that does not exist is left out: watch its name in the
// folder above, too. ErrFolder = others are left out as well.
func (w *Watcher) Watch(names Names) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[int]map[string]bool{}
	conn, failed := w.inotify.SyscallConn()
	if failed != nil {
		return fmt.Errorf("%w: %w", ErrFolder, failed)
	}
	failed = conn.Control(func(fd uintptr) {
		for folder, of := range names {
			number, e := unix.InotifyAddWatch(int(fd), folder, mask)
			switch {
			case e == nil:
				now[number] = of
			case !errors.Is(e, unix.ENOENT) && !errors.Is(e, unix.ENOTDIR):
				err = fmt.Errorf("%w: %s: %w", ErrFolder, folder, e)
			}
		}
		for number := range w.names {
			if _, still := now[number]; !still {
				_, _ = unix.InotifyRmWatch(int(fd), uint32(number)) // which may be gone
			}
		}
	})
	w.names = now
	return errors.Join(err, failed)
}

// read reports changes until Close.
func (w *Watcher) read() {
	var buf [8 << 10]byte
	for {
		n, err := w.inotify.Read(buf[:])
		if err != nil {
			return
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			number := int(int32(binary.NativeEndian.Uint32(rest)))
			what := binary.NativeEndian.Uint32(rest[4:])
			length := int(binary.NativeEndian.Uint32(rest[12:]))
			rest = rest[unix.SizeofInotifyEvent:]
			name := string(bytes.TrimRight(rest[:length], "\x00"))
			if rest = rest[length:]; w.matters(number, what, name) {
				w.tell()
			}
		}
	}
}

// matters reports whether a change is one of a name that is watched, or of a folder itself.
func (w *Watcher) matters(number int, what uint32, name string) bool {
	if what&unix.IN_Q_OVERFLOW != 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	names, known := w.names[number]
	return known && (names == nil || names[name] || name == "" && what&unix.IN_ATTRIB == 0)
}
