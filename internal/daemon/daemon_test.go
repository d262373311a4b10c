package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a daemon on a home of its own.
type house struct {
	*Daemon
	t      *testing.T
	config config.Config
	client *client.Client
	logs   *observer.ObservedLogs
	stop   func()
}

// newHome makes a short home: socket paths are short.
func newHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "hookd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return home
}

// start runs a daemon on home until the test ends or stop is called.
func start(t *testing.T, home string, change func(*config.Config)) *house {
	t.Helper()
	c := config.Default(home)
	if change != nil {
		change(&c)
	}
	core, logs := observer.New(zap.DebugLevel)
	d, err := New(Options{Config: c, Version: "test", Log: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	h := &house{Daemon: d, t: t, config: c, client: client.New(client.Options{Socket: c.Socket}), logs: logs}
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(h.stop)
	h.until("it is ready", func() bool { s, err := h.client.Status(t.Context()); return err == nil && s.Ready })
	return h
}

// until waits for cond with a generous deadline.
func (h *house) until(what string, cond func() bool) {
	h.t.Helper()
	until(h.t, what, cond)
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-tick.C
	}
}

// writeHook makes a hook folder with a script and returns the folder.
func writeHook(t *testing.T, home, name, yaml, script string) string {
	t.Helper()
	dir := filepath.Join(home, "hooks", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\n"+script, 0o755)
	writeFile(t, filepath.Join(dir, "HOOK.yaml"), "name: "+name+"\ncommand: ./run.sh\n"+yaml, 0o644)
	return dir
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (h *house) emit(line string) api.Answer {
	h.t.Helper()
	env, perr := events.Parse([]byte(line))
	if perr != nil {
		h.t.Fatal(perr)
	}
	a, err := h.client.Emit(h.t.Context(), env)
	if err != nil {
		h.t.Fatalf("emit %s: %v", line, err)
	}
	return a
}

// fullRun returns the record of a hook's newest run.
func (h *house) fullRun(hook string) events.Run {
	h.t.Helper()
	var run events.Run
	h.until("a run of "+hook+" is recorded", func() bool {
		runs, err := h.client.Runs(h.t.Context(), api.RunQuery{Hook: hook, Limit: 1})
		if err != nil || len(runs) == 0 {
			return false
		}
		run, err = h.client.Run(h.t.Context(), runs[0].ID)
		return err == nil
	})
	return run
}

// fullRuns returns the records of the newest runs with their output.
func (h *house) fullRuns(q api.RunQuery) []events.Run {
	h.t.Helper()
	runs, err := h.client.Runs(h.t.Context(), q)
	for i := range runs {
		if err == nil {
			runs[i], err = h.client.Run(h.t.Context(), runs[i].ID)
		}
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return runs
}

func TestHooksGetTheDocumentedContract(t *testing.T) {
	home := newHome(t)
	for _, pattern := range []string{"agent:end", "*"} {
		writeHook(t, home, "h"+fmt.Sprint(len(pattern)), "events: ['"+pattern+"']\n",
			`printf '%s|%s|%s|' "$HOOK_EVENT" "$HOOK_EVENT_DATA" "$PWD"; env | grep -c ^HOOK_; cat`)
	}
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	h.emit(`{"event":"agent:end","data":{"agent_id":"a","status":"ok"},"session_id":"s","wait":true}`)
	exact, wild := h.fullRun("h9"), h.fullRun("h1")
	want := `agent:end|{"agent_id":"a","status":"ok"}|` + filepath.Join(home, "hooks", "h9") + "|2\n" + `{"agent_id":"a","status":"ok","hook_event_name":"agent:end","event_id":"` + exact.EventID + `","session_id":"s","cwd":"","timestamp":"`
	if !strings.HasPrefix(exact.Stdout.Head, want) || !strings.HasSuffix(exact.Stdout.Head, "\"}\n") {
		t.Errorf("hook saw %q, want it to begin with %q", exact.Stdout.Head, want)
	}
	if got := strings.ReplaceAll(wild.Stdout.Head, "h1", "h9"); got != exact.Stdout.Head {
		t.Errorf("on a wildcard %q, on the exact name %q", got, exact.Stdout.Head)
	}
}
