package daemon

// unmapProgram does nothing: madvise of macOS leaves such pages mapped.
func unmapProgram() {}
