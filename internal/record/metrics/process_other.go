//go:build !linux

package metrics

// platform has no resident memory: only a C library of the system has that number.
var platform []reading
