package doctor

// memory reports nothing: macOS has no file system in memory.
func (v *visit) memory() {}
