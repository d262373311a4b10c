package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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

// leastGarbage is what a collection is worth. Go collects when as much garbage
// has come as there is memory in use, 4 MiB at least: a daemon uses so little
// that under load this is a hundred times a second, on two processors a tenth
// of them.
const leastGarbage = 16 << 20

// collectLess has the garbage collector wait for leastGarbage. More memory in
// use than that is collected as ever. It looks again after each collection,
// and leaves alone who sets GOGC.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	in := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(in)
	debug.SetGCPercent(int(max(100, leastGarbage*100/max(in[0].Value.Uint64(), 1<<20))))
	runtime.AddCleanup(new([16]byte), func(struct{}) { collectLess() }, struct{}{})
}
