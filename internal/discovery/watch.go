package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch turns the notifications of the system into two signals: something that
// matters has changed, and notifications were lost. Its pump never stops reading for
// long: fsnotify blocks, and holds its lock, while its errors are not read.
type watch struct {
	fs    *fsnotify.Watcher
	set   atomic.Pointer[watchSet]
	ids   map[string]fileID // directories as they were when their watch was added
	dirty chan<- struct{}
	lost  chan<- error
	stuck bool          // a directory to watch does not answer: nothing of fs returns any more
	ended chan struct{} // closed to end the pump
	done  chan struct{} // closed when the pump has ended
}

// A notification that does not matter is mostly caused by hookd itself: its database
// is in a watched directory, and each write to it would wake threads while a sender
// waits for a verdict. So the pump pauses after one, and then reads all that have
// come for at least minReading; the system merges equal ones.
const (
	pauseAfterNoise = 50 * time.Millisecond
	minReading      = 5 * time.Millisecond
)

func newWatch(w *fsnotify.Watcher, dirty chan<- struct{}, lost chan<- error) *watch {
	t := &watch{
		fs: w, ids: map[string]fileID{}, dirty: dirty, lost: lost,
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	t.set.Store(newWatchSet())
	go t.pump()
	return t
}

func (t *watch) pump() {
	defer close(t.done)
	var until time.Time // no pause before
	for {
		select {
		case e, ok := <-t.fs.Events:
			if !ok {
				return
			}
			if t.set.Load().matter(e) {
				signal(t.dirty)
			} else if time.Now().After(until) {
				t.pause()
				until = time.Now().Add(minReading)
			}
		case err, ok := <-t.fs.Errors:
			if !ok {
				return
			}
			select {
			case t.lost <- err:
			default: // one waits there already
			}
		}
	}
}

func (t *watch) pause() {
	timer := time.NewTimer(pauseAfterNoise)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ended:
	}
}

func (t *watch) close() {
	close(t.ended)
	end := func() {
		_ = t.fs.Close() // its watches are gone in any case
		<-t.done
	}
	if t.stuck {
		go end() // when the file system answers
		return
	}
	end()
}

// addPatience is how long one directory may take to be watched.
const addPatience = 5 * time.Second

var errStuck = errors.New("a directory to watch is on a file system that does not answer")

// add watches a directory. On a file system that does not answer the call never
// returns and holds all that the watcher does: the watch is stuck then, and of no use.
func (t *watch) add(dir string) error {
	added := make(chan error, 1)
	go func() { added <- t.fs.Add(dir) }()
	timer := time.NewTimer(addPatience)
	defer timer.Stop()
	select {
	case err := <-added:
		return err
	case <-timer.C:
		t.stuck = true
		return fmt.Errorf("watch %s: %w", dir, errStuck)
	}
}

// update makes the watches those of s. It reports whether one was added: changes from
// before it are not noticed. An error means that the system has no more watches, or
// that a file system does not answer: this watch is of no use then.
func (t *watch) update(s *watchSet) (added bool, err error) {
	if t.stuck {
		return false, errStuck
	}
	t.set.Store(s) // first, so that no notification of a new watch is missed
	present := map[string]bool{}
	for _, dir := range t.fs.WatchList() {
		present[dir] = t.removeUnwanted(s, dir)
	}
	for _, sp := range s.all {
		if present[sp.dir] {
			continue
		}
		if err := t.add(sp.dir); exhausted(err) {
			return added, err
		} else if err != nil {
			continue // gone again, or not readable: its parent is watched
		}
		t.ids[sp.dir] = sp.id
		added = true
	}
	return added, nil
}

// removeUnwanted removes the watch of dir and returns false, unless s has dir and it
// is still the same directory. A removed directory that a process holds open keeps
// its watch, and a renamed one takes it along.
func (t *watch) removeUnwanted(s *watchSet, dir string) bool {
	if sp := s.byPath[dir]; sp != nil && sp.dir == dir && sp.id == t.ids[dir] {
		return true
	}
	_ = t.fs.Remove(dir) // an error means that the system has removed it already
	delete(t.ids, dir)
	return false
}

// exhausted reports whether err is about the system, not about one directory.
func exhausted(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) &&
		!errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP)
}
