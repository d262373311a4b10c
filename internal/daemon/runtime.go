package daemon

import (
	"math"
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
// of them. It also collects every two minutes, whatever has come, which wakes
// all threads of a daemon that idles: there a collection with less garbage than
// littleGarbage is the last one until leastGarbage has come.
const (
	leastGarbage  = 16 << 20
	littleGarbage = 1 << 20
)

// gcPacer says when the garbage collector runs, anew after each of its runs.
// More memory in use than leastGarbage is collected as ever.
type gcPacer struct{ allocated uint64 } // bytes since the start of the process, when it ran last

// collectLess begins with it, right after a collection, but leaves alone who
// sets GOGC or GOMEMLIMIT.
func collectLess() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	var p gcPacer
	p.set()  // of all that the start took
	p.keep() // of nothing since
}

func (p *gcPacer) keep() {
	p.set()
	runtime.AddCleanup(new([16]byte), (*gcPacer).keep, p)
}

func (p *gcPacer) set() {
	in := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(in)
	live, allocated, used := in[0].Value.Uint64(), in[1].Value.Uint64(), in[2].Value.Uint64()-in[3].Value.Uint64()
	if allocated-p.allocated < littleGarbage {
		debug.SetMemoryLimit(int64(used + leastGarbage))
		debug.SetGCPercent(-1)
	} else {
		debug.SetGCPercent(int(max(100, leastGarbage*100/max(live, 1<<20))))
		debug.SetMemoryLimit(math.MaxInt64)
	}
	p.allocated = allocated
}
