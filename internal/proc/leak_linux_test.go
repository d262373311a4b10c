package proc

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func itoa(n int) string { return strconv.Itoa(n) }

// PROC_TEST_RUNS sets how many runs this takes: 10000 runs have to hold.
func TestNothingGrows(t *testing.T) {
	hooktest.Long(t)
	runs := 1000
	if n, err := strconv.Atoi(os.Getenv("PROC_TEST_RUNS")); err == nil {
		runs = n
	}
	eachRunner(t, func(t *testing.T, r *Runner) {
		specs := []Spec{
			{Path: "/bin/true", Stdin: [][]byte{[]byte("{}\n")}, Timeout: time.Minute},
			{Path: "/nowhere", Timeout: time.Minute},
			shell(t, "echo out; echo err >&2; exit 2"),
			shell(t, "sleep 0.02 & echo background"),
			shell(t, "kill -9 $$"),
			{Path: "/bin/sleep", Args: []string{"300"}, Timeout: 5 * time.Millisecond},
		}
		round := func(n int) {
			done := make(chan struct{})
			for range 8 {
				go func() {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					for i := range n / 8 {
						if i%10 < len(specs) {
							r.Run(ctx, specs[i%10])
						} else {
							r.Run(ctx, specs[0])
						}
					}
					done <- struct{}{}
				}()
			}
			for range 8 {
				<-done
			}
		}
		round(160)
		settled := func() (fds, goroutines, children int) {
			open, _ := os.ReadDir("/proc/self/fd")
			return len(open), runtime.NumGoroutine(), countChildren()
		}
		hooktest.Until(t, "the first runs to settle", func() bool { return countChildren() == 0 })
		fds, goroutines, _ := settled()
		memory := heap()
		round(runs)
		// A pooled cgroup has two descriptors, and the pool is as large as the most
		// runs there were at once.
		hooktest.Until(t, "descriptors, goroutines and children to be where they were", func() bool {
			f, g, c := settled()
			return f <= fds+40 && g <= goroutines+1 && c == 0
		})
		if now := heap(); now > memory+4<<20 {
			t.Errorf("got %d bytes in use, before %d", now, memory)
		}
		if r.Cgroup() != "" {
			if folders, _ := filepath.Glob(r.Cgroup() + "/run-*"); len(folders) > 40 {
				t.Errorf("got %d cgroups after %d runs, eight at once", len(folders), runs)
			}
		}
	})
}

// countChildren counts our children, zombies included.
func countChildren() (n int) {
	table, err := processes()
	if err != nil {
		return -1
	}
	for _, r := range table {
		if r.ppid == os.Getpid() {
			n++
		}
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
