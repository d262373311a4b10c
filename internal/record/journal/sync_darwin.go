package journal

// Sync reaches the disk: os.File.Sync asks for that, since fsync alone does not.
func (f osFile) Sync() error { return f.File.Sync() }
