package server

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// newTeller fails: kqueue(2) does not take sockets.
func newTeller() (*fsnotify.Watcher, error) { return nil, errors.ErrUnsupported }
