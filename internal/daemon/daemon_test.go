package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

// Many daemons share the heap of the tests' program. Each would limit it as if it were alone there, and the
// collector would take half of the processors.
func TestMain(m *testing.M) {
	os.Setenv("GOMEMLIMIT", "off")
	goleak.VerifyTestMain(m)
}

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
	return hooktest.ShortDir(t)
}

// start runs a daemon on home until the test ends or stop is called.
func start(t *testing.T, home string, change func(*config.Config)) *house {
	t.Helper()
	return startWith(t, home, func(o *Options) {
		if change != nil {
			change(&o.Config)
		}
	})
}

// startWith is start with other options.
func startWith(t *testing.T, home string, change func(*Options)) *house {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	o := Options{Config: config.Default(home), Version: "test", Log: zap.New(core)}
	change(&o)
	c := o.Config
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{Daemon: d, t: t, config: c, client: client.New(client.Options{Socket: c.Socket}), logs: logs, stop: hooktest.Run(t, d.Run)}
	h.until("it is ready", func() bool { s, err := h.client.Status(t.Context()); return err == nil && s.Ready })
	return h
}

// until waits for cond with a generous deadline.
func (h *house) until(what string, cond func() bool) {
	h.t.Helper()
	hooktest.Until(h.t, what, cond)
}

// writeHook makes a hook folder with a script and returns the folder.
func writeHook(t *testing.T, home, name, yaml, script string) string {
	t.Helper()
	return hooktest.Hook(t, home, name, yaml, script)
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	hooktest.Write(t, path, text, mode)
}

func (h *house) emit(line string) client.Answer {
	h.t.Helper()
	env, perr := events.Parse([]byte(line))
	if perr != nil {
		h.t.Fatal(perr)
	}
	a, err := h.client.Emit(h.t.Context(), env.Sent())
	if err != nil {
		h.t.Fatalf("emit %s: %v", line, err)
	}
	return a
}

// fullRun returns the record of a hook's newest run.
func (h *house) fullRun(hook string) client.Run {
	h.t.Helper()
	var run client.Run
	h.until("a run of "+hook+" is recorded", func() bool {
		runs, err := h.client.Runs(h.t.Context(), client.RunQuery{Hook: hook, Limit: 1})
		if err != nil || len(runs) == 0 {
			return false
		}
		run, err = h.client.Run(h.t.Context(), runs[0].ID)
		return err == nil
	})
	return run
}

// fullRuns returns the records of the newest runs with their output.
func (h *house) fullRuns(q client.RunQuery) []client.Run {
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
	want := `agent:end|{"agent_id":"a","status":"ok"}|` + filepath.Join(
		home,
		"hooks",
		"h9",
	) + "|2\n" + `{"agent_id":"a","status":"ok","hook_event_name":"agent:end","event_id":"` + exact.EventID + `","session_id":"s","cwd":"","timestamp":"`
	if !strings.HasPrefix(exact.Stdout.Head, want) || !strings.HasSuffix(exact.Stdout.Head, "\"}\n") {
		t.Errorf("hook saw %q, want it to begin with %q", exact.Stdout.Head, want)
	}
	if got := strings.ReplaceAll(wild.Stdout.Head, "h1", "h9"); got != exact.Stdout.Head {
		t.Errorf("on a wildcard %q, on the exact name %q", got, exact.Stdout.Head)
	}
}
