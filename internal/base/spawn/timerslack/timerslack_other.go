//go:build !linux

package timerslack

// Raise does nothing.
func Raise() {}

// Lend does nothing.
func Lend() (back func()) { return func() {} }
