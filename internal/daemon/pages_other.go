//go:build !linux

package daemon

// unmapProgram does nothing here: there is no call that takes unchanged pages
// of a file out of a process's memory at once.
func unmapProgram() {}
