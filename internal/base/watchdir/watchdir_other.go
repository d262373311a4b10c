//go:build !linux

package watchdir

import "errors"

type system struct{}

// New fails: see the package's comment.
func New() (*Watcher, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Watcher) Close() {}

// Watch does nothing.
func (*Watcher) Watch(Names) error { return nil }
