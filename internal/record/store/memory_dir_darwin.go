package store

// MemoryDir returns "": macOS has no file system in memory.
func MemoryDir(string) (string, error) { return "", nil }
