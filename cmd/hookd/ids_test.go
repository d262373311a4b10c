package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// An id is known after kill -9: an event that is sent again is answered as the
// first one was, and runs no hook again.
func TestIDsOutliveAKilledDaemon(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	writeCrashHook(t, home, ran)
	decided := filepath.Join(home, "decided")
	writeGuard(t, home, decided)
	c := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	sent := map[string]client.Event{
		"observed":  {Event: "agent:step", ID: "observed", Sender: "mine", Data: []byte(`{"n":1}`)},
		"awaited":   {Event: "agent:step", ID: "awaited", Sender: "mine", Data: []byte(`{"n":2}`), Wait: true},
		"unmatched": {Event: "agent:other", ID: "unmatched", Sender: "mine", Data: []byte(`{"n":3}`)},
		"decided":   {Event: "pre_tool_use", ID: "decided", Sender: "mine", Data: []byte(`{"tool_name":"shell"}`), Wait: true},
	}
	kill := serveUntilKilled(t, home)
	first := map[string]client.Answer{}
	for name, e := range sent {
		a, err := c.Emit(t.Context(), e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first[name] = a
	}
	var flood sync.WaitGroup
	for i := range 4 {
		flood.Go(func() {
			for n := range 100 {
				if _, err := c.Emit(t.Context(), client.Event{Event: "agent:other", ID: fmt.Sprint(i, n), Sender: "flood", Data: []byte(`{}`)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	flood.Wait()
	if _, err := c.Runs(t.Context(), client.RunQuery{}); err != nil { // which looks at what is on disk, when all of it is there
		t.Fatal(err)
	}
	for range 2 {
		kill()
		kill = serveUntilKilled(t, home)
		for name, e := range sent {
			a, err := c.Emit(t.Context(), e)
			if err != nil {
				t.Fatalf("%s, sent again: %v", name, err)
			}
			if was := first[name]; a.EventID != was.EventID || a.Seq != was.Seq || !a.Duplicate || fmt.Sprint(a.Matched) != fmt.Sprint(was.Matched) {
				t.Errorf("%s, sent again: got %+v, the first got %+v", name, a, was)
			}
			e.Data = []byte(`{"n":4}`)
			var refused *client.Error
			if _, err := c.Emit(t.Context(), e); !errors.As(err, &refused) || refused.Code != client.CodeIDConflict {
				t.Errorf("%s, with other content: got %v, want a conflict", name, err)
			}
		}
		again, err := c.Emit(t.Context(), sent["decided"])
		if was := first["decided"]; err != nil || again.Verdict == nil || again.Verdict.Allowed || again.Verdict.Message != was.Verdict.Message || len(again.Runs) != 1 || again.Runs[0].RunID != was.Runs[0].RunID {
			t.Errorf("the verdict, asked for again: got %+v, %v, the first was %+v", again, err, was)
		}
	}
	hooktest.Until(t, "everything has run", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Store.PendingRuns == 0 && st.Queued == 0
	})
	kill()
	for file, want := range map[string]int{ran: 2, decided: 1} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines != want {
			t.Errorf("%s: %d runs, want %d", filepath.Base(file), lines, want)
		}
	}
}

// writeGuard makes a hook that denies each tool call and counts them.
func writeGuard(t *testing.T, home, file string) {
	t.Helper()
	dir := filepath.Join(home, "hooks", "guard")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "name: guard\nevents: [pre_tool_use]\ntype: script\nscript: |\n  echo ran >> " + file + "\n  echo 'no shell today' >&2\n  exit 2\n"
	if err := os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
