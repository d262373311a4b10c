package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/catalog"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/hooktest"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/runner"
)

// A persistent hook that guards has its worker before the first event, and so has one
// that says so; others wait for it.
func TestWarm(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "guard", "events: pre_tool_use\nmode: persistent\n", answering)
	writeHook(t, home, "watch", "events: pre_tool_use\nmode: persistent\nshadow: true\n", answering)
	writeHook(t, home, "cold", "events: pre_tool_use\nmode: persistent\nwarm: false\n", answering)
	writeHook(t, home, "audit", "events: ['*']\nmode: persistent\n", answering)
	writeHook(t, home, "eager", "events: ['*']\nmode: persistent\nwarm: true\n", answering)
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	for _, name := range []string{"guard", "watch", "eager"} {
		h.until("the worker of "+name+" starts", func() bool { return len(h.hook(name).Persistent.Copies) == 1 })
	}
	for _, name := range []string{"cold", "audit"} {
		if got := h.hook(name).Persistent; got.Starts != 0 {
			t.Errorf("%s has had %d workers, and no event", name, got.Starts)
		}
	}
	h.emit(`{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`)
	for _, name := range []string{"guard", "eager"} {
		h.until(name+" answers", func() bool { return h.hook(name).Counts["ok"] == 1 })
		if got := h.hook(name).Persistent.Starts; got != 1 {
			t.Errorf("%s has had %d workers, want the first one", name, got)
		}
	}
}

// BenchmarkFirstCall is how long the first and the second verdict of a persistent guard
// take after it was loaded, warm and cold.
func BenchmarkFirstCall(b *testing.B) {
	for _, warm := range []bool{true, false} {
		name := "cold"
		if warm {
			name = "warm"
		}
		b.Run(name, func(b *testing.B) {
			var first, second time.Duration
			for b.Loop() {
				one, two := calls(b, warm)
				first, second = first+one, second+two
			}
			b.ReportMetric(float64(first.Microseconds())/float64(b.N), "first-µs")
			b.ReportMetric(float64(second.Microseconds())/float64(b.N), "second-µs")
		})
	}
}

// calls loads a guard and times its first two verdicts.
func calls(b *testing.B, warm bool) (first, second time.Duration) {
	c, h := persistentGuard(b)
	ready := filepath.Join(h.Dir, "ready")
	hooktest.Write(b, filepath.Join(h.Dir, "guard.py"), `#!/usr/bin/env python3
import json, sys
open("ready", "w").close()
for line in sys.stdin:
    print(json.dumps({"event_id": json.loads(line)["event_id"]}), flush=True)
`, 0o700)
	h, err := catalog.Find(c, "guard")
	if err != nil {
		b.Fatal(err)
	}
	h.Warm = &warm
	p := proc.New(proc.Options{Cgroup: true})
	r := runner.New(runner.Options{Proc: p, TempDir: b.TempDir(), Log: zap.NewNop()})
	r.Configure(c)
	defer func() { r.Close(context.Background()); hooktest.Must(b, p.Close()) }()
	r.Retain([]*hook.Hook{h})
	if warm {
		hooktest.Until(b, "the worker is there", func() bool {
			_, err := os.Stat(ready)
			return !errors.Is(err, os.ErrNotExist)
		})
	}
	d := dispatch.New(dispatch.Options{Runner: r, Recorder: noRecords{}})
	ask := func() time.Duration {
		begun := time.Now()
		if t, refused := d.Rehearse(b.Context(), dispatch.Origin{}, h, pastCall(1, "ls").Envelope); refused != nil || failed(t) {
			b.Fatal(refused, t.Run)
		}
		return time.Since(begun)
	}
	return ask(), ask()
}

func failed(t dispatch.Trial) bool { return t.Run.Result != "ok" }
