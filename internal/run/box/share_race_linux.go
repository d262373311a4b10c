//go:build race

package box

// share is 0: the race detector's runtime does not bear a process in its memory, so the child has a copy.
const share = 0
