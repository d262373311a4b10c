package docs

import (
	"slices"
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
