package docs

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/hooktest"
)

// echo is the least that a persistent hook in Python does.
const echo = `import json, sys
for line in sys.stdin.buffer:
    print(json.dumps({"event_id": json.loads(line)["event_id"]}), flush=True)`

// BenchmarkGuards gives each guard a call that it does not care about, in turn with a
// hook that only answers. p50-ratio is how much longer the guard takes.
func BenchmarkGuards(b *testing.B) {
	hooktest.NeedTool(b, "python3")
	for _, name := range []string{"command-guard", "secret-guard", "self-guard"} {
		b.Run(name, func(b *testing.B) {
			guard, bare := talk(b, name, "/home/me"), speak(b, "/home/me", b.TempDir(), "python3", "-c", echo)
			call := func(w *worker) time.Duration {
				start := time.Now()
				if a := w.judge("/home/me/project", "Bash", map[string]any{"command": "go test ./... 2>&1 | tail -20"}); a.decision != "" {
					b.Fatalf("%s says %v", name, a)
				}
				return time.Since(start)
			}
			call(guard)
			call(bare)
			var guards, bares []time.Duration
			for b.Loop() {
				guards, bares = append(guards, call(guard)), append(bares, call(bare))
			}
			slices.Sort(guards)
			slices.Sort(bares)
			p50, least := guards[len(guards)/2], bares[len(bares)/2]
			b.ReportMetric(float64(p50.Microseconds()), "p50-µs")
			b.ReportMetric(float64(least.Microseconds()), "echo-p50-µs")
			b.ReportMetric(float64(p50)/float64(least), "p50-ratio")
		})
	}
}

// BenchmarkFirstCalls is how long each guard takes for the first call after its start and
// for the second, once it waits for lines. What hookd adds is in BenchmarkFirstCall of
// internal/runner.
func BenchmarkFirstCalls(b *testing.B) {
	hooktest.NeedTool(b, "python3")
	if _, err := os.Stat("/proc/self/syscall"); err != nil {
		b.Skip("SKIP-TOOL /proc: it says what a process waits for")
	}
	for _, name := range []string{"command-guard", "secret-guard", "self-guard"} {
		b.Run(name, func(b *testing.B) {
			var firsts, seconds []time.Duration
			for b.Loop() {
				guard := talk(b, name, "/home/me")
				hooktest.Until(b, "it waits for a line", func() bool { return readsStdin(guard.pid) })
				for _, times := range []*[]time.Duration{&firsts, &seconds} {
					start := time.Now()
					guard.judge("/home/me/project", "Bash", map[string]any{"command": "go test ./... 2>&1 | tail -20"})
					*times = append(*times, time.Since(start))
				}
			}
			slices.Sort(firsts)
			slices.Sort(seconds)
			b.ReportMetric(float64(firsts[len(firsts)/2].Microseconds()), "first-p50-µs")
			b.ReportMetric(float64(seconds[len(seconds)/2].Microseconds()), "second-p50-µs")
		})
	}
}

// readsStdin reports whether a process waits in a system call whose first argument is 0,
// which for an interpreter is a read of its stdin.
func readsStdin(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	fields := strings.Fields(string(text))
	return err == nil && len(fields) > 2 && fields[1] == "0x0"
}
