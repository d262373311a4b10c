package runner

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/proc"
)

// BenchmarkSecondLook runs a guard, a script of sh, with and without the look at its files after the exec, in
// turn. The difference of the two medians is the cost of the look; look-µs is the look alone.
func BenchmarkSecondLook(b *testing.B) {
	home := b.TempDir()
	dir := filepath.Join(home, "hooks", "guard")
	hooktest.Write(b, filepath.Join(dir, "HOOK.yaml"), "name: guard\nevents: PreToolUse\ncommand: ./guard.sh\n", 0o600)
	hooktest.Write(b, filepath.Join(dir, "guard.sh"), "#!/bin/sh\nexit 0\n", 0o700)
	c := config.Default(home)
	c.HooksDir = filepath.Join(home, "hooks")
	h, err := catalog.Find(c, "guard")
	hooktest.Must(b, err)
	p := proc.New(proc.Options{})
	r := New(Options{Proc: p, TempDir: b.TempDir(), Log: zap.NewNop()})
	r.Configure(c)
	defer func() { r.Close(context.Background()); hooktest.Must(b, p.Close()) }()
	data := []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`)
	e := &events.Event{EventID: "E", Contract: events.For(events.ClaudeCode, "PreToolUse")}
	e.Envelope = events.Envelope{Event: "PreToolUse", Dialect: events.ClaudeCode, Cwd: home, Data: data}
	j := &dispatch.Job{
		Hook: h, Event: e, Rules: &neutral.Rules{}, Given: "PreToolUse", Payload: data, Data: data, Timeout: time.Minute, Awaited: true,
		Latest: time.Now().Add(time.Hour), Whole: 1 << 16, Looks: func(string) {}, Starting: func() {},
		Started: func(dispatch.Process) {},
	}
	run := func(again bool) time.Duration {
		a, err := r.startable(h, j.Looks)
		hooktest.Must(b, err)
		if !again {
			a.look = nil
		}
		begun := time.Now()
		if out, refused := r.process(b.Context(), j, a); refused != nil || out.Err != nil || out.ExitCode != 0 {
			b.Fatal(refused, out)
		}
		return time.Since(begun)
	}
	var with, without, alone []time.Duration
	for i := 0; b.Loop(); i++ {
		one, two := run(i%2 == 0), run(i%2 != 0)
		if i%2 != 0 {
			one, two = two, one
		}
		with, without = append(with, one), append(without, two)
		a, err := r.startable(h, j.Looks)
		hooktest.Must(b, err)
		begun := time.Now()
		hooktest.Must(b, a.confirm(j.Looks))
		alone = append(alone, time.Since(begun))
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(median(with), "with-µs")
	b.ReportMetric(median(without), "without-µs")
	b.ReportMetric(median(with)-median(without), "cost-µs")
	b.ReportMetric(median(alone), "look-µs")
}
