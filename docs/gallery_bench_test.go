package docs

import (
	"fmt"
	"os"
	"path/filepath"
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
// for the second, once it waits for lines. BenchmarkFirstVerdicts has it as a sender sees it.
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

// BenchmarkFirstVerdicts is how long a sender waits for the first verdict after a start of
// hookd, once the guard waits for lines, and for the second: go test ./docs -run '^$'
// -bench FirstVerdicts -benchtime 30x.
func BenchmarkFirstVerdicts(b *testing.B) {
	hooktest.NeedTool(b, "python3")
	if _, err := os.Stat("/proc/self/syscall"); err != nil {
		b.Skip("SKIP-TOOL /proc: it says what a process waits for")
	}
	for _, name := range []string{"command-guard", "secret-guard", "self-guard"} {
		b.Run(name, func(b *testing.B) {
			home := newHome(b)
			install(b, home, name, nil)
			var firsts, seconds []time.Duration
			for b.Loop() {
				h := start(b, home)
				h.waits(name)
				firsts, seconds = append(firsts, h.verdict("go test ./... 2>&1 | tail -20")), append(seconds, h.verdict("go vet ./... | head -5"))
				h.stop()
			}
			reportTimes(b, "first", firsts)
			reportTimes(b, "second", seconds)
		})
	}
}

// BenchmarkShadow is how long a sender waits for a verdict of command-guard with and
// without self-guard in the shadow, in turn on two daemons, ten milliseconds between calls.
func BenchmarkShadow(b *testing.B) {
	hooktest.NeedTool(b, "python3")
	var with, without []time.Duration
	alone, beside := newHome(b), newHome(b)
	for _, home := range []string{alone, beside} {
		install(b, home, "command-guard", nil)
	}
	dir := install(b, beside, "self-guard", nil)
	text := read(b, filepath.Join(dir, "HOOK.yaml"))
	hooktest.Write(b, filepath.Join(dir, "HOOK.yaml"), text+"shadow: true\n", 0o600)
	one, two := start(b, alone), start(b, beside)
	one.waits("command-guard")
	two.waits("command-guard")
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for n := 0; b.Loop(); n++ {
		line := fmt.Sprintf("go test ./pkg%d 2>&1 | tail -20", n)
		for k := range 2 { // each is the first of the two as often as the other
			<-pause.C
			if k == n%2 {
				without = append(without, one.verdict(line))
			} else {
				with = append(with, two.verdict(line))
			}
		}
	}
	reportTimes(b, "without", without)
	reportTimes(b, "shadow", with)
}

// waits waits until the worker of a guard waits for lines.
func (h *house) waits(name string) {
	h.t.Helper()
	hooktest.Until(h.t, name+" waits for a line", func() bool {
		hook, err := h.client.Hook(h.t.Context(), name)
		return err == nil && hook.Persistent != nil && len(hook.Persistent.Copies) == 1 &&
			readsStdin(hook.Persistent.Copies[0].PID)
	})
}

// verdict asks about a shell line that no guard objects to, and returns how long it took.
func (h *house) verdict(line string) time.Duration {
	h.t.Helper()
	call := runs(claude, line)
	call.data["cwd"] = "/home/me/project"
	begun := time.Now()
	if a := h.send(call); describe(a.Verdict) != "no opinion" {
		h.t.Fatalf("%s: %s", line, reason(a.Verdict))
	}
	return time.Since(begun)
}

// reportTimes reports the median of times, and the longest of a hundred.
func reportTimes(b *testing.B, what string, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), what+"-p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), what+"-p99-µs")
}

// readsStdin reports whether a process waits in a system call whose first argument is 0,
// which for an interpreter is a read of its stdin.
func readsStdin(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	fields := strings.Fields(string(text))
	return err == nil && len(fields) > 2 && fields[1] == "0x0"
}
