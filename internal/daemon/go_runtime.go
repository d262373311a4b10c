package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
)

// leastProcs is how many goroutines may run at once. While Go forks, it holds
// the place of one for as long as the child takes to its exec: on two processors
// two starts would hold up everything else. More places than processors let a
// tenth to a fifth more hooks start, and cost a tenth of what one persistent
// hook gets through.
const leastProcs = 4

// addProcs sees to it that there are so many places, unless GOMAXPROCS says
// otherwise.
func addProcs() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
}

// ownMemory is what hookd takes on Go's heap beside the events that wait, and
// leastMemory what it has at least. Its program and what its database takes come
// on top.
const (
	ownMemory   = 12 << 20
	leastMemory = 48 << 20
)

// limitMemory has garbage collected less often than Go does in so small a heap,
// but before it grows far beyond what may wait in memory. GOGC and GOMEMLIMIT
// in the environment win.
func limitMemory(queue int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(queue+ownMemory, leastMemory))
	}
}
