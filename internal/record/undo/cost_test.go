package undo

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// BenchmarkKeep measures the time that keeping adds to a verdict, beside the deletion or the write,
// in the default settings.
func BenchmarkKeep(b *testing.B) {
	for _, files := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("%d files", files), func(b *testing.B) {
			benchmark(b, "rm -rf d", func(dir string) {
				for i := range files {
					in := filepath.Join(dir, "d", fmt.Sprint(i/20))
					if i%20 == 0 {
						hooktest.Must(b, os.MkdirAll(in, 0o755))
					}
					hooktest.Must(b, os.WriteFile(filepath.Join(in, fmt.Sprint(i)), make([]byte, 2048), 0o644))
				}
			}, func(dir string) { hooktest.Must(b, os.RemoveAll(filepath.Join(dir, "d"))) })
		})
	}
	for name, line := range map[string]string{"1 GB deleted": "rm a", "1 GB written over": "echo n > a", "1 MB written over": "echo n > m"} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, line, func(dir string) {
				hooktest.Must(b, os.WriteFile(filepath.Join(dir, "a"), make([]byte, 1<<30), 0o644))
				hooktest.Must(b, os.WriteFile(filepath.Join(dir, "m"), make([]byte, 1<<20), 0o644))
			}, func(string) {})
		})
	}
}

func benchmark(b *testing.B, line string, make, destroy func(dir string)) {
	base := b.TempDir()
	k, err := Open(filepath.Join(base, "vault"), nil)
	hooktest.Must(b, err)
	var kept, own time.Duration
	var r Copied
	for i := range b.N {
		dir := filepath.Join(base, fmt.Sprint(i))
		hooktest.Must(b, os.Mkdir(dir, 0o755))
		make(dir)
		c := call(dir)
		r = k.Keep(c, factsOf(line, dir))
		kept += r.Took
		start := time.Now()
		destroy(dir)
		own += time.Since(start)
		k.Ran(c.ID)
		k.waitClosed("s", time.Now().Add(time.Minute))
		_, _ = k.Purge(c.ID)
	}
	b.ReportMetric(float64(kept.Microseconds())/float64(b.N)/1000, "ms/keep")
	b.ReportMetric(float64(own.Microseconds())/float64(b.N)/1000, "ms/own")
	b.ReportMetric(float64(r.Files), "kept")
}
