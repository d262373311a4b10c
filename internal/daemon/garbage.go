package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

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
