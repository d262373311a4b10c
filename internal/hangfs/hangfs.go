// Package hangfs is for tests: it mounts a file system that stops answering when
// it is told to, as a dead network mount does, and answers again later. It needs
// root, Linux and /dev/fuse; where they are missing, New skips the test by name.
// A Mount serves one flat folder of files that cannot be changed.
package hangfs
