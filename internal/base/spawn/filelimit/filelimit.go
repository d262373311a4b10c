// Package filelimit knows the limit of open files that this program was started with:
// Go raises it when it initialises package syscall, and does not say so.
//
// This package imports nothing. Go initialises packages in the order of their import
// paths as soon as all that they import is (the Go specification leaves it open, the
// release notes of Go 1.21 fix it), so this one comes before syscall.
package filelimit

// Limit is a struct rlimit64 of Linux.
type Limit struct{ Soft, Hard uint64 }
