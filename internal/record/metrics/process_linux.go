package metrics

import (
	"os"
	"strconv"
	"strings"
)

var platform = []reading{
	loadGauge("process_resident_memory_bytes", "Memory of the daemon that is in RAM.",
		func(Load) float64 { return residentBytes() }),
}

// residentBytes is 0 where /proc cannot be read.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil { // 0 says so
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return float64(pages) * float64(os.Getpagesize())
}
