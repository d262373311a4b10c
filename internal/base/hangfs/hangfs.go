// Package hangfs is for tests: it mounts a file system that can stop answering, as a
// dead network mount does, and answer again later. It needs root, Linux and /dev/fuse;
// without them New skips the test by name. A Mount has one flat folder of files that
// cannot be changed.
package hangfs
