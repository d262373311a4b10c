//go:build !linux

package metrics

// platform has no resident memory: the system tells it only to programs in C.
var platform []reading
