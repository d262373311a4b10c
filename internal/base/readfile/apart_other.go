//go:build !linux

package readfile

// Apart calls f, which opens and closes the file at path. A file that is open for that
// time holds no start of a process here.
func Apart(_ string, f func()) { f() }
