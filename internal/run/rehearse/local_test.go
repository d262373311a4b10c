package rehearse

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// persistentGuard makes a hook that denies forced pushes, in Python.
func persistentGuard(t testing.TB) (config.Config, *hook.Hook) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("SKIP-TOOL python3")
	}
	home := t.TempDir()
	dir := filepath.Join(home, "hooks", "guard")
	hooktest.Write(t, filepath.Join(dir, "HOOK.yaml"),
		"name: guard\nevents: PreToolUse\nmode: persistent\ncommand: ./guard.py\nargs: []\n", 0o600)
	hooktest.Write(t, filepath.Join(dir, "guard.py"), `#!/usr/bin/env python3
import glob, json, os, sys, time
for line in sys.stdin:
    e = json.loads(line)
    a = {"event_id": e["event_id"]}
    if "push -f" in e["tool_input"]["command"]:
        a["decision"], a["reason"] = "block", "whatif=%s %s" % (os.environ.get("HOOKD_WHATIF", ""), e["timestamp"])
    if "meet" in e["tool_input"]["command"]:
        open("met-%d" % os.getpid(), "w").close()
        while len(glob.glob("met-*")) < 2:
            time.sleep(0.01)
        a["decision"], a["reason"] = "block", str(os.getpid())
    print(json.dumps(a), flush=True)
`, 0o700)
	c := config.Default(home)
	c.HooksDir = filepath.Join(home, "hooks")
	h, err := catalog.Find(c, "guard")
	if err != nil {
		t.Fatal(err)
	}
	return c, h
}

func pastCall(i int, command string) Past {
	return Past{
		Envelope: events.Envelope{Event: "PreToolUse", Dialect: events.ClaudeCode, SessionID: "s", Cwd: "/tmp", Wait: true,
			Data: fmt.Appendf(nil, `{"tool_name":"Bash","tool_input":{"command":%q}}`, command)},
		EventID: fmt.Sprint("e", i), Time: time.Unix(int64(i), 0), Whole: true,
	}
}

// BenchmarkWhatIf is how many past events a second a persistent guard is asked about.
func BenchmarkWhatIf(b *testing.B) {
	c, h := persistentGuard(b)
	_, err := WhatIfLocal(context.Background(), c, h, func(each func(Past) error) error {
		if err := each(pastCall(0, "ls")); err != nil { // the worker starts
			return err
		}
		b.ResetTimer()
		for i := range b.N {
			if err := each(pastCall(i, "ls -la src/app")); err != nil {
				return err
			}
		}
		return nil
	}, func(*Asking) {})
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// A hook is asked about each event with HOOKD_WHATIF=1; an answer other than the past
// decision is a change, and nothing else is.
func TestWhatIf(t *testing.T) {
	c, h := persistentGuard(t)
	decided := func(o wire.Outcome, by ...string) *wire.Decision {
		return &wire.Decision{Decision: o, DecidedBy: by}
	}
	rest := func(list ...wire.Outcome) func() ([]wire.Outcome, error) {
		return func() ([]wire.Outcome, error) { return list, nil }
	}
	for _, tt := range []struct {
		name     string
		command  string
		decision *wire.Decision
		others   func() ([]wire.Outcome, error)
		change   string // then and now; "" = none
	}{
		{"new_denial", "git push -f", nil, nil, "none deny"},
		{"denied_by_another", "git push -f", decided(wire.OutcomeDeny, "other"), nil, ""},
		{"stricter_than_an_ask", "git push -f", decided(wire.OutcomeAsk, "other"), nil, "ask deny"},
		{"as_it_was", "git push -f", decided(wire.OutcomeDeny, "guard"), rest(), ""},
		{"no_longer", "ls", decided(wire.OutcomeDeny, "guard"), rest(), "deny none"},
		{"no_longer_but_another_asked", "ls", decided(wire.OutcomeDeny, "guard"), rest(wire.OutcomeNone, wire.OutcomeAsk), "deny ask"},
		{"with_another", "ls", decided(wire.OutcomeDeny, "guard", "other"), nil, ""},
		{"allowed_by_another", "ls", decided(wire.OutcomeAllow, "other"), nil, ""},
		{"nothing_at_all", "ls", nil, nil, ""},
		{"rewritten_by_another", "ls", &wire.Decision{Decision: wire.OutcomeNone, DecidedBy: []string{"other"}, Rewrote: []string{"input"}}, nil, ""},
		{"rewrite_no_longer", "ls", &wire.Decision{Decision: wire.OutcomeNone, DecidedBy: []string{"guard"}, Rewrote: []string{"input"}}, rest(), "rewrite none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pastCall(1, tt.command)
			p.Decision, p.Others = tt.decision, tt.others
			cut, hidden := p, p
			cut.Whole, hidden.Redacted = false, true
			sum, err := WhatIfLocal(t.Context(), c, h, func(each func(Past) error) error {
				return errors.Join(each(p), each(cut), each(hidden))
			}, func(*Asking) {})
			if err != nil {
				t.Fatal(err)
			}
			got, why := "", ""
			for _, change := range sum.Changes {
				got, why = change.Then+" "+change.Now, change.Reason
			}
			if got != tt.change || sum.Asked != 1 || sum.Ran != 1 || sum.Cut != 1 || sum.Redacted != 1 || sum.Failed != 0 || sum.Stopped {
				t.Errorf("got %q, want %q: %+v", got, tt.change, sum)
			}
			if strings.HasSuffix(got, " deny") && why != "whatif=1 1970-01-01T00:00:01Z" {
				t.Errorf("the hook says %q", why)
			}
		})
	}
}

// A hook that does not say how many workers it may have gets several: here two calls wait
// for each other. Changes stand newest first, however the answers came.
func TestWhatIfAsksWorkersSideBySide(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("SKIP-TOOL a second processor")
	}
	c, h := persistentGuard(t)
	sum, err := WhatIfLocal(t.Context(), c, h, func(each func(Past) error) error {
		for i := 5; i > 0; i-- {
			if err := each(pastCall(i/2, "meet")); err != nil {
				return err
			}
		}
		return nil
	}, func(*Asking) {})
	if err != nil || sum.Failed > 0 || len(sum.Changes) != 5 {
		t.Fatalf("got %v, %+v", err, sum)
	}
	if !slices.IsSortedFunc(sum.Changes, func(x, y Change) int { return y.Time.Compare(x.Time) }) {
		t.Errorf("not newest first: %+v", sum.Changes)
	}
}

// A hook that says how many workers it may have gets no more.
func TestWhatIfKeepsConcurrency(t *testing.T) {
	c, h := persistentGuard(t)
	h.Concurrency = 1
	hooktest.Write(t, filepath.Join(filepath.Dir(h.File), "met-another"), "", 0o600)
	sum, err := WhatIfLocal(t.Context(), c, h, func(each func(Past) error) error {
		for i := range 20 {
			if err := each(pastCall(i, "meet")); err != nil {
				return err
			}
		}
		return nil
	}, func(*Asking) {})
	if err != nil || len(sum.Changes) != 20 {
		t.Fatalf("got %v, %+v", err, sum)
	}
	for _, change := range sum.Changes {
		if change.Reason != sum.Changes[0].Reason {
			t.Errorf("workers %s and %s", change.Reason, sum.Changes[0].Reason)
		}
	}
}

// The answers until the end of the context are reported; the rest is not asked.
func TestWhatIfStops(t *testing.T) {
	c, h := persistentGuard(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asking *Asking
	sum, err := WhatIfLocal(ctx, c, h, func(each func(Past) error) error {
		for i := 0; ; i++ {
			if err := each(pastCall(i, "git push -f")); err != nil {
				return err
			}
			if _, changes := asking.Seen(); changes >= 3 {
				cancel()
			}
		}
	}, func(a *Asking) { asking = a })
	if err != nil || !sum.Stopped || len(sum.Changes) < 3 || len(sum.Changes) != sum.Asked {
		t.Errorf("got %v, %+v", err, sum)
	}
}
