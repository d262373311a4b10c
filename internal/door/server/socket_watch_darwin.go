package server

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// newWatcher fails: kqueue(2) does not take sockets.
func newWatcher() (*fsnotify.Watcher, error) { return nil, errors.ErrUnsupported }
