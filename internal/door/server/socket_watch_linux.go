package server

import "github.com/fsnotify/fsnotify"

// newWatcher returns the watcher that reports changes of a socket's file.
func newWatcher() (*fsnotify.Watcher, error) { return fsnotify.NewWatcher() }
