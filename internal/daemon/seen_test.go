package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// need skips the test, by name, where a tool is missing.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP-TOOL %s: not installed", tool)
		}
	}
}

// copyExample copies a folder of testdata/hooks into a home.
func copyExample(t *testing.T, home, name string) string {
	t.Helper()
	dir := filepath.Join(home, "hooks", name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../testdata/hooks", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// patient gives an example more than its 5 s: it starts Python three times, on a machine that tests much else.
func patient(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "HOOK.yaml")
	text, err := os.ReadFile(file)
	hooktest.Must(t, err)
	hooktest.Write(t, file, string(text)+"\ntimeout: 60\n", 0o644)
}

func TestTheDocumentedNotifyHookPosts(t *testing.T) {
	need(t, "bash", "curl", "python3")
	posts := make(chan string, 10)
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- r.Method + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer hooks.Close()
	line := `{"event":"agent:end","wait":true,"data":{"agent_id":"a1","status":"ok","tokens_used":42}}`
	for _, url := range []string{hooks.URL, ""} {
		home := newHome(t)
		dir := copyExample(t, home, "notify-on-end")
		patient(t, dir)
		h := start(t, home, func(c *config.Config) { c.Env = map[string]string{"SLACK_WEBHOOK_URL": url} })
		if a := h.emit(line); len(a.Runs) != 1 || a.Runs[0].Result != client.ResultOK {
			t.Fatalf("runs = %+v, want one that is ok", a.Runs)
		}
		if url == "" {
			if got := h.fullRun("notify-on-agent-end").Stderr.Head; !strings.Contains(got, "skipping") {
				t.Errorf("without its variable it said %q", got)
			}
			h.emit(`{"event":"agent:start","wait":true}`)
			if got := h.fullRun("notify-on-agent-end"); got.Event != "agent:end" {
				t.Errorf("it ran for %s", got.Event)
			}
		}
	}
	want := `POST application/json {"text": "Agent ` + "`a1`" + ` finished with status *ok* (42 tokens)"}`
	if got := <-posts; got != want || len(posts) != 0 {
		t.Errorf("posted %s and %d more, want once %s", got, len(posts), want)
	}
}

func TestASleeperDiesWithAllItsChildren(t *testing.T) {
	home := newHome(t)
	pids := filepath.Join(home, "pids")
	writeHook(t, home, "sleeper", "events: [x]\ntimeout: 5s\n", `
sleep 60 &
echo $! >> `+pids+`
setsid sh -c 'echo $$ >> `+pids+`; exec sleep 60' &
echo $$ >> `+pids+`
wait
`)
	writeHook(t, home, "quick", "events: [y]\n", "echo done")
	h := start(t, home, nil)
	if a := h.emit(`{"event":"x"}`); len(a.Matched) != 1 || a.Runs != nil {
		t.Errorf("the sender got %+v", a)
	}
	h.until(
		"all three are there",
		func() bool { b, _ := os.ReadFile(pids); return strings.Count(string(b), "\n") == 3 },
	)
	if a := h.emit(`{"event":"y","wait":true}`); a.Runs[0].Result != client.ResultOK {
		t.Errorf("the next event was not served meanwhile: %+v", a.Runs)
	}
	run := h.fullRun("sleeper")
	if run.Result != client.ResultTimeout || run.Killed == "" || run.Left != 0 {
		t.Errorf("run = %+v, want a timeout with nothing left", run)
	}
	warns := h.logs.FilterMessage("hook timed out").All()
	if len(warns) != 1 || warns[0].ContextMap()["hook"] != "sleeper" ||
		warns[0].ContextMap()["event_id"] != run.EventID {
		t.Errorf("warnings = %v, want one that names the hook and the event", warns)
	}
	text, _ := os.ReadFile(pids)
	for _, pid := range strings.Fields(string(text)) {
		h.until("process "+pid+" is gone", func() bool { return !lives(pid) })
	}
}

// lives reports whether a process runs; a zombie of another parent does not.
func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return exec.Command("kill", "-0", pid).Run() == nil && runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestHooksComeAndGoWhileEventsFlow(t *testing.T) {
	home := newHome(t)
	count := filepath.Join(home, "count")
	writeHook(t, home, "steady", "events: [tick]\norder: parallel\n", `echo x >> `+count)
	h := start(t, home, nil)

	ctx, cancel := context.WithCancel(t.Context())
	var sent atomic.Int64
	var flow sync.WaitGroup
	flow.Go(func() { // 100 events a second
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if _, err := h.client.Emit(t.Context(), client.Event{Event: "tick"}); err != nil {
					t.Errorf("emit: %v", err)
				}
				sent.Add(1)
			}
		}
	})
	state := func(name string) string {
		hk, err := h.client.Hook(t.Context(), name)
		if err != nil {
			return "none"
		}
		return hk.State
	}
	becomes := func(name, want string) {
		t.Helper()
		h.until(name+" is "+want, func() bool { return state(name) == want })
	}
	dir := writeHook(t, home, "fresh", "events: [tick]\n", "exit 0")
	yaml := filepath.Join(dir, "HOOK.yaml")
	becomes("fresh", "active")

	vimSave(t, yaml, "name: fresh\ncommand: ./run.sh\nevents: [other]\n")
	h.until("the edit is in force", func() bool {
		hk, err := h.client.Hook(t.Context(), "fresh")
		return err == nil && hk.Events[0] == "other"
	})
	vimSave(t, yaml, "name: fresh\ncommand: ./run.sh\nevents: ['[']\n")
	becomes("fresh", "degraded")
	if hk, _ := h.client.Hook(t.Context(), "fresh"); hk.Events[0] != "other" || len(hk.Problems) == 0 {
		t.Errorf("degraded hook = %+v, want its last good version and the problem", hk)
	}
	vimSave(t, yaml, "name: fresh\ncommand: ./run.sh\nevents: [tick]\n")
	becomes("fresh", "active")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	becomes("fresh", "none")
	cancel()
	flow.Wait()
	h.until("the steady hook ran for every event", func() bool {
		text, _ := os.ReadFile(count)
		return int64(strings.Count(string(text), "x")) >= sent.Load()
	})
	if text, _ := os.ReadFile(count); int64(strings.Count(string(text), "x")) != sent.Load() {
		t.Errorf("%d runs for %d events", strings.Count(string(text), "x"), sent.Load())
	}
}

// vimSave writes a file the way vim does by default.
func vimSave(t *testing.T, path, text string) {
	t.Helper()
	if err := os.Rename(path, path+"~"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text, 0o644)
	if err := os.Remove(path + "~"); err != nil {
		t.Fatal(err)
	}
}

func TestAThousandEventsAndTenSubscribers(t *testing.T) {
	const n = 1000
	h := start(t, newHome(t), nil)
	stopped, err := net.Dial("unix", h.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	fmt.Fprintln(stopped, `{"subscribe":["*"]}`)

	var readers sync.WaitGroup
	listening := make(chan struct{}, 10)
	for range 10 {
		readers.Go(func() {
			next := 0
			err := h.client.Tail(
				t.Context(),
				client.TailOptions{Match: []string{"tick"}},
				func(rec json.RawMessage) error {
					var r struct {
						Type string
						Data struct{ N int }
					}
					if err := json.Unmarshal(rec, &r); err != nil {
						return err
					}
					switch r.Type {
					case "epoch":
						listening <- struct{}{}
					case "event":
						if r.Data.N != next {
							return fmt.Errorf("got event %d, want %d", r.Data.N, next)
						}
						if next++; next == n {
							return io.EOF
						}
					case "gap":
						return fmt.Errorf("a gap")
					}
					return nil
				},
			)
			if err != nil && err != io.EOF {
				t.Errorf("subscriber: %v", err)
			}
		})
	}
	for range 10 {
		<-listening
	}
	conn, err := h.client.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pad := strings.Repeat("x", 2000) // so that the stopped one's socket fills up
	go func() {
		for i := range n {
			data := fmt.Sprintf(`{"n":%d,"pad":%q}`, i, pad)
			if err := conn.Send(t.Context(), client.Event{Event: "tick", Data: json.RawMessage(data)}); err != nil {
				t.Errorf("send %d: %v", i, err)
				return
			}
		}
	}()
	var last uint64
	for i := range n {
		a, err := conn.Receive(t.Context())
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if a.Seq <= last {
			t.Fatalf("answer %d has seq %d after %d", i, a.Seq, last)
		}
		last = a.Seq
	}
	readers.Wait()
	for range 200 { // push the ring past what the stopped one has read
		for range 10 {
			conn.Send(t.Context(), client.Event{Event: "more"})
		}
		for range 10 {
			if _, err := conn.Receive(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	gaps := 0
	for dec := json.NewDecoder(stopped); ; {
		var r struct {
			Type string
			Seq  uint64
			To   uint64
		}
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "gap" {
			gaps++
		}
		if r.Seq >= last+2000 {
			break
		}
	}
	if gaps != 1 {
		t.Errorf("the stopped subscriber got %d gap records, want 1", gaps)
	}
}

func TestAHookThatLogsIntoItsOwnFolderDoesNotFeedTheReload(t *testing.T) {
	home := newHome(t)
	dir := writeHook(
		t,
		home,
		"log",
		"events: ['*']\norder: parallel\n",
		`echo "$HOOK_EVENT" >> log.txt; echo x > "new-$$"`,
	)
	h := start(t, home, nil)
	h.until("what the start emits has run", func() bool { // and is counted, before the count begins
		b, _ := os.ReadFile(filepath.Join(dir, "log.txt"))
		return strings.Contains(string(b), "gateway:startup")
	})
	before, _ := h.client.Status(t.Context())
	tick := time.NewTicker(20 * time.Millisecond) // 50 events a second
	defer tick.Stop()
	for range 150 {
		<-tick.C
		h.emit(`{"event":"agent:step"}`)
	}
	h.until("all ran", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "log.txt"))
		return strings.Count(string(b), "agent:step") == 150
	})
	after, _ := h.client.Status(t.Context())
	if after.Generation != before.Generation || after.Events != before.Events+150 {
		t.Errorf(
			"generation %d → %d, events %d → %d; want no reload and 150 events",
			before.Generation,
			after.Generation,
			before.Events,
			after.Events,
		)
	}
}

func TestABackgroundChildFinishesItsWork(t *testing.T) {
	home := newHome(t)
	done := filepath.Join(home, "done")
	lines := 40
	writeHook(t, home, "bg", "events: [x]\ntimeout: 1s\n", `
( i=0; while [ $i -lt `+strconv.Itoa(lines)+` ]; do echo "line $i" || exit 1; i=$((i+1)); sleep 0.05; done; echo finished > `+done+` ) &
exit 0`)
	h := start(t, home, nil)
	if a := h.emit(`{"event":"x","wait":true}`); a.Runs[0].Result != client.ResultOK || a.Runs[0].DurationMS > 1000 {
		t.Errorf("run = %+v, want ok and not delayed", a.Runs[0])
	}
	h.until("the background child has finished", func() bool { _, err := os.Stat(done); return err == nil })
}

func TestTransformOverWait(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "a-abstains", "events: [transform_tool_result]\n", "cat > /dev/null")
	writeHook(t, home, "b-fails", "events: [transform_tool_result]\n", "echo nonsense; exit 3")
	writeHook(t, home, "c-filter", "events: [transform_tool_result]\n", `printf 'clean\n\303\244 "x"'`)
	writeHook(t, home, "d-late", "events: [transform_tool_result]\n", "echo too late")
	h := start(t, home, nil)
	a := h.emit(`{"event":"transform_tool_result","data":{"tool_name":"shell","tool_output":"secret"},"wait":true}`)
	var got string
	if err := json.Unmarshal(a.Verdict.UpdatedToolResponse, &got); err != nil || got != "clean\nä \"x\"" {
		t.Errorf("replacement %q %v", got, err)
	}
	if !a.Verdict.Allowed || len(a.Runs) != 3 {
		t.Errorf("verdict %+v, %d runs", a.Verdict, len(a.Runs))
	}
	if warns := h.logs.FilterLevelExact(zap.WarnLevel).FilterField(zap.String("hook", "b-fails")).Len(); warns != 1 {
		t.Errorf("%d warnings about the broken filter, want 1", warns)
	}
}

func TestDescriptorsGoroutinesAndMemoryStayFlat(t *testing.T) {
	hooktest.Long(t)
	const runs = 10_000
	home := newHome(t)
	dir := filepath.Join(home, "hooks", "noop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := "true"
	if path, err := exec.LookPath("true"); err == nil {
		bin = path
	}
	writeFile(
		t,
		filepath.Join(dir, "HOOK.yaml"),
		"name: noop\nevents: [tick]\norder: parallel\ncommand: "+bin+"\n",
		0o644,
	)
	h := start(t, home, nil)
	conn, err := h.client.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(n int) {
		for done := 0; done < n; done += 100 {
			for range 100 {
				if err := conn.Send(t.Context(), client.Event{Event: "tick"}); err != nil {
					t.Fatal(err)
				}
			}
			for range 100 {
				if _, err := conn.Receive(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			h.until(
				"the queue is empty",
				func() bool { s := h.dispatch.Stats(); return s.QueuedRuns+s.RunningObserve == 0 },
			)
		}
	}
	run(1100) // fills the ring, the records and the pools
	fds, goroutines, heap := usage()
	run(runs)
	fds2, goroutines2, heap2 := usage()
	if fds2 > fds+5 || goroutines2 > goroutines+5 || heap2 > heap+heap/2+4<<20 {
		t.Errorf(
			"after %d runs: descriptors %d → %d, goroutines %d → %d, heap %d → %d",
			runs,
			fds,
			fds2,
			goroutines,
			goroutines2,
			heap,
			heap2,
		)
	}
	h.until("no process is a zombie", func() bool { return zombies() == 0 })
	s, _ := h.client.Status(t.Context())
	if s.Runs["ok"] != runs+1100 {
		t.Errorf("runs = %v, want %d ok", s.Runs, runs+1100)
	}
}

func usage() (descriptors, goroutines int, heap uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list), runtime.NumGoroutine(), m.HeapAlloc
}

// zombies counts this process's dead children that were not reaped.
func zombies() (n int) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			n++
		}
	}
	return n
}

func TestStopGivesRunningHooksTheirTime(t *testing.T) {
	home := newHome(t)
	out := filepath.Join(home, "out")
	writeHook(t, home, "slow", "events: [x]\n", `echo started >> `+out+`; sleep 1; echo finished >> `+out)
	h := start(t, home, nil)
	for range 3 {
		h.emit(`{"event":"x","session_id":"s"}`)
	}
	h.until("the first has started", func() bool { b, _ := os.ReadFile(out); return len(b) > 0 })
	drained := make(chan int, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() { drained <- h.dispatch.Drain(ctx) }()
	h.until("it drains", func() bool { return h.dispatch.Stats().Draining })
	if _, err := h.client.Emit(t.Context(), client.Event{Event: "x"}); err == nil ||
		!strings.Contains(err.Error(), "shutting down") {
		t.Errorf("an event while draining: %v", err)
	}
	if dropped := <-drained; dropped != 0 {
		t.Errorf("dropped %d", dropped)
	}
	finished := func() int { b, _ := os.ReadFile(out); return strings.Count(string(b), "finished") }
	if finished() != 1 {
		t.Errorf("%d finished, want the one that ran", finished())
	}
	h.stop()
	h = start(t, home, nil)
	h.until("the others have run", func() bool { return finished() == 3 })
}

func TestReloadReportsProblems(t *testing.T) {
	home := newHome(t)
	h := start(t, home, func(c *config.Config) { c.ReloadMode = "manual" })
	writeHook(t, home, "good", "events: [x]\n", "exit 0")
	writeHook(t, home, "bad", "evnets: [x]\n", "exit 0")
	r, err := h.client.Reload(t.Context())
	var bad []client.Problem
	for _, p := range r.Problems {
		if !p.Warning {
			bad = append(bad, p)
		}
	}
	if err == nil || r.Hooks != 1 || len(bad) == 0 || bad[0].Line == 0 && len(bad) == 1 && bad[0].Message == "" {
		t.Errorf("reload = %+v, %v; want one hook and what is wrong with the other", r, err)
	}
	if hk, err := h.client.Hook(t.Context(), "god"); err == nil || !strings.Contains(err.Error(), "god") {
		t.Errorf("unknown hook: %+v %v", hk, err)
	}
}

func TestBadSettingsKeepTheLastGoodOnes(t *testing.T) {
	home := newHome(t)
	c := config.Default(home)
	c.ReloadMode = "manual"
	next, bad := c, error(nil)
	d, err := New(Options{Config: c, Reconfigure: func() (config.Config, error) { return next, bad }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	cl := client.New(client.Options{Socket: c.Socket})
	hooktest.Until(t, "it is ready", func() bool { return cl.Ready(t.Context()) == nil })

	writeHook(t, filepath.Join(home, "other"), "there", "events: [x]\n", "exit 0")
	next.HooksDir = filepath.Join(home, "other", "hooks")
	if r, err := cl.Reload(t.Context()); err != nil || r.Hooks != 1 {
		t.Errorf("reload with new settings: %+v, %v; want the hook of the other directory", r, err)
	}
	next, bad = c, fmt.Errorf("hookd.yaml:1:1: unknown key")
	if r, err := cl.Reload(t.Context()); err == nil || r.Hooks != 1 {
		t.Errorf("reload with bad settings: %+v, %v; want the last good ones and an error", r, err)
	}
	if s, _ := cl.Status(t.Context()); len(s.Problems) != 1 || s.Problems[0].Message != bad.Error() {
		t.Errorf("status shows %+v, want the problem", s.Problems)
	}
}

func TestABrokenGuardIsStillThereAfterARestart(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "guard", "events: [pre_tool_use]\n", "exit 2")
	agent := filepath.Join(home, "AGENT.md")
	writeFile(
		t,
		agent,
		"---\nname: coder\nhooks:\n  - {event: beforeToolCall, action: script, script: 'exit 2', onFailure: abort}\n---\n",
		0o644,
	)
	settings := func(c *config.Config) { c.Sources = []config.Source{{Type: "familiar", Path: agent}} }
	h := start(t, home, settings)
	h.until("both files are kept", func() bool { return len(h.store.Manifests()) == 2 })
	h.stop()

	writeFile(t, filepath.Join(dir, "HOOK.yaml"), "name: [\n", 0o644)
	writeFile(t, agent, "---\nname: coder\nhooks: 7\n---\n", 0o644)
	h = start(t, home, settings)
	for _, line := range []string{`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell"}}`, `{"event":"beforeToolCall","wait":true,"agent_name":"coder","data":{"tool_name":"shell"}}`} {
		if a := h.emit(line); a.Verdict.Allowed {
			t.Errorf("%s: allowed by %+v, want the guard of before", line, a)
		}
	}
	states := map[string]string{}
	list, err := h.client.Hooks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list.Hooks {
		states[k.Name] = k.State
	}
	if states["guard"] != "degraded" || len(states) != 2 {
		t.Errorf("states %v, want both degraded", states)
	}
	h.stop()

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	h = start(t, home, settings)
	h.until("the removed one is forgotten", func() bool { return len(h.store.Manifests()) == 1 })
}
