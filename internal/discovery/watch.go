package discovery

import (
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch turns the notifications of the system into two signals: something
// that matters has changed, and notifications were lost. Its pump never stops
// reading for long: fsnotify stands still while its errors are not read, and
// holds its lock while it waits for that.
type watch struct {
	fs    *fsnotify.Watcher
	spots atomic.Pointer[spots]
	ids   map[string]fileID // directories as they were when their watch was added
	dirty chan<- struct{}
	lost  chan<- error
	ended chan struct{} // closed to end the pump
	done  chan struct{} // closed when the pump has ended
}

// A notification that does not matter is mostly hookd's own: its database lies
// in a directory that is watched, and each write to it would wake threads while
// somebody waits for a verdict. So the pump looks away for a while after one, and
// then takes all that has come: what says the same the system keeps once.
const (
	lookAway = 50 * time.Millisecond
	look     = 5 * time.Millisecond
)

func newWatch(w *fsnotify.Watcher, dirty chan<- struct{}, lost chan<- error) *watch {
	t := &watch{fs: w, ids: map[string]fileID{}, dirty: dirty, lost: lost, ended: make(chan struct{}), done: make(chan struct{})}
	t.spots.Store(newSpots())
	go t.pump()
	return t
}

func (t *watch) pump() {
	defer close(t.done)
	var until time.Time // when it may look away again
	for {
		select {
		case e, ok := <-t.fs.Events:
			if !ok {
				return
			}
			if t.spots.Load().matter(e) {
				poke(t.dirty)
			} else if time.Now().After(until) {
				t.pause()
				until = time.Now().Add(look)
			}
		case err, ok := <-t.fs.Errors:
			if !ok {
				return
			}
			select {
			case t.lost <- err:
			default: // one is waiting to be handled already
			}
		}
	}
}

func (t *watch) pause() {
	timer := time.NewTimer(lookAway)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ended:
	}
}

func (t *watch) close() {
	close(t.ended)
	_ = t.fs.Close() // what it held is gone in any case
	<-t.done
}

// want makes the watches those of s. It reports whether one was added: then
// things may have changed unseen before it was there. An error means that
// the system has no more watches to give.
func (t *watch) want(s *spots) (added bool, err error) {
	t.spots.Store(s) // first, so that nothing of a new watch is missed
	present := map[string]bool{}
	for _, dir := range t.fs.WatchList() {
		present[dir] = t.keep(s, dir)
	}
	for _, sp := range s.all {
		if present[sp.dir] {
			continue
		}
		if err := t.fs.Add(sp.dir); exhausted(err) {
			return added, err
		} else if err != nil {
			continue // gone again, or not to be read: the spot above it will tell
		}
		t.ids[sp.dir] = sp.id
		added = true
	}
	return added, nil
}

// keep removes the watch of dir unless it is wanted and still of the directory
// that is there now. A removed directory that somebody holds open keeps its
// watch, and one that was renamed takes it along.
func (t *watch) keep(s *spots, dir string) bool {
	if sp := s.byPath[dir]; sp != nil && sp.dir == dir && sp.id == t.ids[dir] {
		return true
	}
	_ = t.fs.Remove(dir) // an error says that the system has removed it first
	delete(t.ids, dir)
	return false
}

// exhausted reports whether err is about the system, not about one directory.
func exhausted(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) &&
		!errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP)
}
