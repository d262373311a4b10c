package server

// yieldThread does nothing: macOS has no such system call.
func yieldThread() {}
