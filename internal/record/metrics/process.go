package metrics

import (
	"runtime"
	"runtime/metrics"
	"syscall"
)

// process are the metrics of the process itself, by the names that Prometheus
// knows them by. The platform adds its own.
var process = append([]reading{
	loadGauge("go_goroutines", "Goroutines that there are.",
		func(Load) float64 { return float64(runtime.NumGoroutine()) }),
	loadGauge("go_memstats_heap_inuse_bytes", "Bytes of the heap in spans that are in use.",
		func(Load) float64 { return heapInUse() }),
	loadGauge("process_cpu_seconds_total", "Processor time of the daemon, in user and system mode, in seconds.",
		func(Load) float64 { return cpuSeconds() }).counter(),
}, platform...)

func heapInUse() (bytes float64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples) // it has no error
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			bytes += float64(s.Value.Uint64())
		}
	}
	return bytes
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
