package discovery

import (
	"errors"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hookd/hookd/internal/base/hangfs"
)

// A directory on a file system that hangs costs one patience, then the watch is
// known to be of no use, and is closed without a wait.
func TestWatchOfAHangingDirectory(t *testing.T) {
	m := hangfs.New(t, map[string]string{"sub/file": ""})
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	watch := newWatch(w, make(chan struct{}, 1), make(chan error, 1))
	m.Hang()
	t.Cleanup(m.Answer)
	set := newWatchSet()
	set.all = append(set.all, &watchedDir{dir: m.Dir + "/sub"})
	for range 2 {
		if _, err := watch.update(set); !errors.Is(err, errStuck) {
			t.Errorf("got %v, want that it is stuck", err)
		}
	}
	closed := make(chan struct{})
	go func() {
		watch.close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("closing waits for the file system")
	}
	m.Answer()
	<-watch.done
}
