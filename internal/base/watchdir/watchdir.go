// Package watchdir tells that files of some folders were made, replaced, removed, closed after a write, or
// changed in their mode. Without such a change nothing wakes the process.
//
// Promises. Changed gets a value after each such change of a name that is watched, one for many changes, and
// where changes were missed. A write to a file that stays open is no change. It reads no file. New fails where the
// system has no such means (elsewhere than on Linux): look again and again there.
package watchdir

import (
	"errors"
	"sync"
)

// Names are the watched names in each folder; a folder without names = all its names.
type Names map[string]map[string]bool

// Add adds a name to a folder; "" = all names.
func (n Names) Add(folder, name string) {
	switch names, known := n[folder]; {
	case name == "":
		n[folder] = nil
	case !known:
		n[folder] = map[string]bool{name: true}
	case names != nil:
		names[name] = true
	}
}

// Watcher reports changes. It is safe for concurrent use.
type Watcher struct {
	changed chan struct{}
	system

	mu    sync.Mutex
	names map[int]map[string]bool // by the system's number of a folder
}

// ErrFolder means that a folder is there and cannot be watched.
var ErrFolder = errors.New("a folder cannot be watched")

// Changed gets a value once something has changed since the last one was taken.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

func (w *Watcher) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
