package server

import "github.com/fsnotify/fsnotify"

// newTeller returns what tells of changes of a socket's file.
func newTeller() (*fsnotify.Watcher, error) { return fsnotify.NewWatcher() }
