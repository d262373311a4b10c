package daemon

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

var garbage []byte

func litter(bytes int) {
	const chunk = 64 << 10
	for range bytes / chunk {
		garbage = make([]byte, chunk)
	}
}

// A daemon that idles is not collected, until there is something to collect.
func TestGarbageOfADaemonThatIdles(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	now := func() (percent int, limit int64) {
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent, debug.SetMemoryLimit(-1)
	}
	var p gcPacer
	litter(2 * littleGarbage)
	p.set()
	if percent, limit := now(); percent < 100 || limit != math.MaxInt64 {
		t.Errorf("after much garbage: %d %%, limit %d", percent, limit)
	}
	p.set()
	if percent, limit := now(); percent != -1 || limit == math.MaxInt64 {
		t.Errorf("after no garbage: %d %%, limit %d", percent, limit)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for after = before; after.NumGC == before.NumGC; runtime.ReadMemStats(&after) {
		if after.TotalAlloc > before.TotalAlloc+4<<30 {
			t.Fatal("no collection of 4 GiB")
		}
		litter(leastGarbage)
	}
	p.set()
	if percent, limit := now(); percent < 100 || limit != math.MaxInt64 {
		t.Errorf("after much garbage again: %d %%, limit %d", percent, limit)
	}
}
