package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// leastProcs is the least GOMAXPROCS. While Go forks, it blocks one of its processors
// until the child's exec: on two processors two starts would block everything else.
// With more of them than the machine has, a tenth to a fifth more hooks start, and one
// persistent hook gets through a tenth less.
const leastProcs = 4

// addProcs raises GOMAXPROCS to leastProcs, unless the environment sets it.
func addProcs() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
}

// moreThreads is how many threads hookd has besides one for each run at once, and
// mostThreads how many it makes at the start.
const (
	moreThreads = 12
	mostThreads = 64
)

// addThreads makes threads that wait to be used, for so many runs at once. The Go
// runtime ends a program that cannot get a thread when it needs one, as when the user
// has too many processes: that is to cost starts, which are tried again, not hookd.
func addThreads(runs int) {
	n := min(runs+moreThreads, mostThreads)
	var made sync.WaitGroup
	made.Add(n)
	enough := make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // the runtime keeps it
			made.Done()
			<-enough
		}()
	}
	made.Wait()
	close(enough)
}

// ownMemory is hookd's share of Go's heap besides the share that queue.max_bytes limits, in
// bytes, and leastMemory is the least that it has. The program itself (up to 34 MiB),
// the database (up to 12 MiB), and the allocations while garbage is collected are
// not in it. With them hookd stays within queue.max_bytes and 96 MiB, and waitingMemory
// for each pending event in memory. That is twice the known size of one: where the limit
// leaves little to collect, the collector takes half of the processors.
const (
	ownMemory     = 8 << 20
	leastMemory   = 48 << 20
	waitingMemory = 320
)

// limitMemory has Go collect garbage before the heap grows far beyond the events that may wait
// in memory, besides so many pending events of the store. It is called whenever their number has
// changed by some thousands. GOMEMLIMIT in the environment wins.
func limitMemory(queue int64, waiting int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(queue+ownMemory, leastMemory) + int64(waiting)*waitingMemory)
	}
}
