package runner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/wire"
)

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
	if _, err := exec.LookPath("python3"); err != nil {
		b.Skip("SKIP-TOOL python3")
	}
	home := b.TempDir()
	dir := filepath.Join(home, "hooks", "guard")
	ready := filepath.Join(dir, "ready")
	hooktest.Write(b, filepath.Join(dir, "HOOK.yaml"),
		"name: guard\nevents: PreToolUse\nmode: persistent\ncommand: ./guard.py\nargs: []\n", 0o600)
	hooktest.Write(b, filepath.Join(dir, "guard.py"), `#!/usr/bin/env python3
import json, sys
open("ready", "w").close()
for line in sys.stdin:
    print(json.dumps({"event_id": json.loads(line)["event_id"]}), flush=True)
`, 0o700)
	c := config.Default(home)
	c.HooksDir = filepath.Join(home, "hooks")
	h, err := catalog.Find(c, "guard")
	if err != nil {
		b.Fatal(err)
	}
	h.Warm = &warm
	p := proc.New(proc.Options{Cgroup: true})
	r := New(Options{Proc: p, TempDir: b.TempDir(), Log: zap.NewNop()})
	r.Configure(c)
	defer func() { r.Close(context.Background()); hooktest.Must(b, p.Close()) }()
	r.Retain([]*hook.Hook{h})
	if warm {
		hooktest.Until(b, "the worker is there", func() bool {
			_, err := os.Stat(ready)
			return !errors.Is(err, os.ErrNotExist)
		})
	}
	d := dispatch.New(dispatch.Options{Runner: r})
	call := events.Envelope{Event: "PreToolUse", Dialect: events.ClaudeCode, SessionID: "s", Cwd: "/tmp", Wait: true,
		Data: []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`)}
	ask := func() time.Duration {
		begun := time.Now()
		t, refused := d.Rehearse(b.Context(), dispatch.Origin{}, h, call, time.Time{})
		if refused != nil || t.Run.Result != wire.ResultOK {
			b.Fatal(refused, t.Run)
		}
		return time.Since(begun)
	}
	return ask(), ask()
}
