package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/wire"
)

// answering is a loop that answers each line; the text of the line decides
// the content of an answer besides the event_id.
const answering = `
echo "$$" >> pids
env > env
while read -r line; do
  id=${line##*'"event_id":"'}; id=${id%%'"'*}
  echo "$line" >> lines
  more=
  case $line in
  *'"hook_event_name":"pre_tool_use"'*'rm -rf'* | *'rm -rf'*'"hook_event_name":"pre_tool_use"'*) more=',"decision":"block","reason":"no rm"';;
  *'"hook_event_name":"tool_response_transform"'*) more=',"hook_specific_output":{"updated_tool_response":"clean"}';;
  *please-die*) exit 3;;
  *please-fail*) more=',"hook_failed":"no rules here"';;
  *please-hang*) sleep 1000;;
  esac
  echo "note $id" >&2
  echo "{\"event_id\":\"$id\"$more}"
done
`

func (h *house) hook(name string) client.Hook {
	h.t.Helper()
	a, err := h.client.Hook(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// pids are the processes that a hook has had, oldest first.
func pids(t *testing.T, dir string) (list []int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

func TestAPersistentGuardDecides(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "guard", "events: [pre_tool_use]\nmode: persistent\n", answering)
	h := start(t, home, nil)
	if got := h.hook("guard").Persistent; got == nil {
		t.Error("got no word of a persistent hook before the first event")
	}
	for range 3 {
		if v := h.emit(rm).Verdict; v.Allowed || !strings.Contains(v.Message, "no rm") {
			t.Errorf("got %+v, want a denial", v)
		}
		if v := h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"cmd":"ls"}}}`).Verdict; !v.Allowed ||
			v.PermissionAllowed {
			t.Errorf("got %+v, want no opinion", v)
		}
	}
	list := pids(t, dir)
	if len(list) != 1 {
		t.Errorf("got processes %v, want one for all", list)
	}
	k := h.hook("guard").Persistent
	if len(k.Copies) != 1 || k.Copies[0].PID != list[0] || k.Copies[0].Answered != 6 ||
		k.Copies[0].Slots != "decidable" ||
		k.Starts != 1 {
		t.Errorf("got %+v, want one copy, pid %v", k, list)
	}
	if run := h.fullRun("guard"); run.Result != client.ResultOK || run.Stderr.Bytes == 0 || run.ExitCode != 0 {
		t.Errorf("got run %+v, want its note", run)
	}
	if s, err := h.client.Status(t.Context()); err != nil || s.Copies != 1 {
		t.Errorf("got status %+v, %v", s, err)
	}
}

// The line carries everything that a spawned hook has in its environment; the process has
// no part of that.
func TestAPersistentHookGetsTheDocumentedLine(t *testing.T) {
	t.Setenv("HOOK_EVENT_DATA", "of a hook that started this daemon")
	home := newHome(t)
	dir := writeHook(t, home, "audit", "events: [odd]\nmode: persistent\nenv: {OWN: \"1\"}\n", answering)
	h := start(t, home, nil)
	a := h.emit(
		"{\"event\":\"odd\",\"wait\":true,\"session_id\":\"s\",\"cwd\":\"/tmp\",\"data\":{\"a\": {\n \"b\":1}}}",
	)
	if len(a.Runs) != 1 || a.Runs[0].Result != client.ResultOK {
		t.Fatalf("got runs %+v", a.Runs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(text, &line); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Fatalf("got %q, %v, want one line", text, err)
	}
	for key, want := range map[string]string{"event_id": a.EventID, "hook_event_name": "odd", "session_id": "s", "cwd": "/tmp"} {
		if line[key] != want {
			t.Errorf("got %s %v, want %s", key, line[key], want)
		}
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(env), "HOOK_EVENT") || !strings.Contains(string(env), "OWN=1\n") {
		t.Errorf("got environment %s, %v, want OWN and no HOOK_EVENT", env, err)
	}
}

func TestAPersistentGuardThatFailsDenies(t *testing.T) {
	for _, c := range []struct {
		word, yaml string
		result     client.Result
		cause      string
		processes  int
	}{
		{"please-die", "", client.ResultFailed, "exit status 3", 2},                           // given again once
		{"please-fail", "", client.ResultFailed, "answered that it failed: no rules here", 1}, // it goes on
		{"please-hang", "timeout: 300ms\n", client.ResultTimeout, "timed out after 300ms", 1},
	} {
		t.Run(c.word, func(t *testing.T) {
			home := newHome(t)
			dir := writeHook(t, home, "guard", "events: [pre_tool_use]\nmode: persistent\n"+c.yaml, answering)
			h := start(t, home, nil)
			a := h.emit(fmt.Sprintf(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","x":%q}}`, c.word))
			if a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, c.cause) || len(a.Runs) != 1 ||
				a.Runs[0].Result != c.result {
				t.Errorf("got %+v, runs %+v, want a denial for %s", a.Verdict, a.Runs, c.cause)
			}
			if got := pids(t, dir); len(got) != c.processes {
				t.Errorf("got processes %v, want %d", got, c.processes)
			}
			// A loaded machine may need longer than the timeout to start the next process.
			h.until("another event is allowed", func() bool {
				return h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell"}}`).Verdict.Allowed
			})
		})
	}
}

// Observers go through one pipe, many at once and in order, and an event that
// is waited for is not held up by them.
func TestPersistentObservers(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "audit", "events: ['*']\nmode: persistent\n", answering)
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	const n = 500
	var want []string
	for i := range n {
		want = append(
			want,
			h.emit(fmt.Sprintf(`{"event":"agent:step","session_id":"s%d","data":{"i":%d}}`, i%3, i)).EventID,
		)
	}
	h.until("all are answered", func() bool {
		counts, all := h.hook("audit").Counts, 0
		for _, n := range counts {
			all += int(n)
		}
		return all >= n
	})
	// A run whose hook is saved while its process starts is refused: no answer of a version that is
	// not known counts.
	if counts := h.hook("audit").Counts; counts["ok"] < n-n/20 {
		t.Errorf("of %d runs are %v", n, counts)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		id, _ := rawjson.GetString([]byte(line), "event_id")
		got = append(got, id)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the hook read %d events in another order", len(got))
	}
	if list := pids(t, dir); len(list) != 1 {
		t.Errorf("got processes %v, want one", list)
	}
}

func TestAPersistentHookRewrites(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "clean", "events: [tool_response_transform]\nmode: persistent\n", answering)
	h := start(t, home, nil)
	a := h.emit(`{"event":"tool_response_transform","wait":true,"data":{"tool_name":"shell","tool_response":"secret"}}`)
	if string(a.Verdict.UpdatedToolResponse) != `"clean"` {
		t.Errorf("got %+v, runs %+v", a.Verdict, a.Runs)
	}
}

// A reload that does not change the hook leaves its process alone. A reload that
// does ends it, when it has answered, and another is started.
func TestReloadOfAPersistentHook(t *testing.T) {
	home := newHome(t)
	yaml := "events: [pre_tool_use]\nmode: persistent\n"
	dir := writeHook(t, home, "guard", yaml, answering)
	h := start(t, home, nil)
	h.emit(rm)
	first := pids(t, dir)[0]
	writeHook(t, home, "other", "events: [odd]\n", "exit 0\n")
	h.Reload()
	h.emit(rm)
	if got := pids(t, dir); len(got) != 1 {
		t.Fatalf("got processes %v after a reload that changed nothing of it", got)
	}
	writeHook(t, home, "guard", yaml+"timeout: 7s\n", answering)
	h.Reload()
	h.until("the old process has ended", func() bool { return !lives(strconv.Itoa(first)) })
	h.emit(rm)
	if got := pids(t, dir); len(got) != 2 || got[1] == first {
		t.Errorf("got processes %v after a change", got)
	}
	second := pids(t, dir)[1]
	writeHook(t, home, "guard", yaml+"enabled: false\n", answering)
	h.Reload()
	h.until("the process of a disabled hook has ended", func() bool { return !lives(strconv.Itoa(second)) })
}

// While a hook and the environment of all hooks change, each event of a session is read after
// those before it, by whatever process.
func TestReloadsKeepTheOrderOfSessions(t *testing.T) {
	home := newHome(t)
	const yaml = "events: ['agent:step']\nmode: persistent\n"
	dir := writeHook(t, home, "audit", yaml, answering)
	settings := config.Default(home)
	settings.FireStartup = false
	var round atomic.Int64
	h := startWith(t, home, func(o *Options) {
		o.Config = settings
		o.Reconfigure = func() (config.Config, error) {
			c := settings
			c.Env = map[string]string{"ROUND": strconv.FormatInt(round.Load(), 10)}
			return c, nil
		}
	})
	const n = 300
	for i := range n {
		h.emit(fmt.Sprintf(`{"event":"agent:step","session_id":"s%d","data":{"i":%d}}`, i%3, i))
		switch i % 20 {
		case 9:
			writeHook(t, home, "audit", yaml, fmt.Sprintf("%s# %d\n", answering, i))
			h.Reload()
		case 19:
			round.Add(1)
			h.Reload()
		}
	}
	h.until("all are answered", func() bool { return h.hook("audit").Counts["ok"] == n })
	text, err := os.ReadFile(filepath.Join(dir, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var at struct {
			I       int
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal([]byte(line), &at); err != nil {
			t.Fatal(err)
		}
		if at.I < newest[at.Session] {
			t.Errorf("event %d was read after %d", at.I, newest[at.Session])
		}
		newest[at.Session] = at.I
	}
	if got := len(pids(t, dir)); got < n/20 {
		t.Errorf("the hook had %d processes, want one for each reload", got)
	}
}

func TestStopEndsPersistentHooks(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "guard", "events: [pre_tool_use, odd]\nmode: persistent\n", answering+"echo end > end\n")
	h := start(t, home, nil)
	h.emit(rm)
	h.emit(`{"event":"odd","wait":true}`)
	h.stop()
	for _, pid := range pids(t, dir) {
		if lives(strconv.Itoa(pid)) {
			t.Errorf("process %d lives on", pid)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "end")); err != nil || len(pids(t, dir)) != 2 {
		t.Errorf("got processes %v, %v, want two, and that they see the end of their stdin", pids(t, dir), err)
	}
}

// An event from a persistent hook at work on an event is one deeper.
func TestAPersistentHookThatEmitsIsInTheChain(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "audit", "events: [odd]\nmode: persistent\n", answering)
	h := start(t, home, nil)
	h.emit(`{"event":"odd","wait":true}`)
	pid := h.hook("audit").Persistent.Copies[0].PID
	if got := h.origin(pid); got != (dispatch.Origin{Depth: 1, Hook: "audit"}) {
		t.Errorf("got origin %+v, want depth 1 of audit", got)
	}
}

func TestHooksTestOfAPersistentHook(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "guard", "events: [pre_tool_use]\nmode: persistent\n", answering)
	h := start(t, home, nil)
	tested, err := h.client.Test(t.Context(), "guard", client.Event{})
	if err != nil || tested.Run.Result != client.ResultOK || !tested.Decides {
		t.Errorf("got %+v, %v", tested, err)
	}
	local, err := rehearse.TryLocal(t.Context(), h.config, "guard", events.Envelope{})
	if err != nil || local.Run.Result != wire.ResultOK {
		t.Errorf("got %+v, %v without a daemon", local, err)
	}
}

// A program that answers with the event_id serves both modes, strictly read.
func TestAPersistentProgramSpawned(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "guard", "events: [pre_tool_use]\nstrict_output: true\n", answering)
	writeHook(
		t,
		home,
		"skill",
		"events: [skill_content_guard]\n",
		strings.ReplaceAll(answering, "more=\n", "more=',\"continue\":true'\n"),
	)
	h := start(t, home, nil)
	if v := h.emit(rm).Verdict; v.Allowed || !strings.Contains(v.Message, "no rm") {
		t.Errorf("got %+v, want a denial", v)
	}
	a := h.emit(`{"event":"skill_content_guard","wait":true,"data":{}}`)
	if !a.Verdict.Allowed || a.Runs[0].Result != client.ResultOK {
		t.Errorf("got %+v, runs %+v, want an explicit yes", a.Verdict, a.Runs)
	}
}

// One run of a persistent hook is killed, with its worker: a guard denies, and the other runs
// of the worker go on as if nothing had been.
func TestRunOfAPersistentHookIsKilled(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "both", "events: [pre_tool_use, odd]\nmode: persistent\ntimeout: 10m\n", answering)
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	kill := func(event string) {
		t.Helper()
		var runs []client.RunUnderWay
		h.until("the run is under way", func() bool {
			runs, _ = h.client.Running(t.Context())
			return len(runs) > 0 && runs[0].Event == event
		})
		h.until("a worker has it", func() bool {
			copies := h.hook("both").Persistent.Copies
			return slices.ContainsFunc(copies, func(c client.Worker) bool { return c.Owes > 0 })
		})
		id := runs[0].RunID
		h.until("the run is killed", func() bool {
			killed, err := h.client.Kill(t.Context(), id)
			return err == nil && killed.RunID == id
		})
		h.until("the run is recorded", func() bool {
			run, err := h.client.Run(t.Context(), id)
			return err == nil && run.Result == client.ResultFailed && strings.Contains(run.Error, "was killed by `hookd kill`")
		})
	}
	answers := make(chan client.Answer, 1)
	go func() {
		answers <- h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"cmd":"please-hang"}}}`)
	}()
	kill("pre_tool_use")
	if a := <-answers; a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "was killed by") {
		t.Errorf("verdict %+v", a.Verdict)
	}
	h.emit(`{"event":"odd","data":{"do":"please-hang"}}`)
	h.emit(`{"event":"odd","data":{"do":"nothing"}}`)
	kill("odd")
	h.until("the other run is ok", func() bool {
		runs, err := h.client.Runs(t.Context(), client.RunQuery{Result: client.ResultOK, Event: "odd"})
		return err == nil && len(runs) == 1
	})
	if got := h.hook("both").Persistent; got.Starts != 3 {
		t.Errorf("got %+v, want one worker that was killed for each of two runs, and one more", got)
	}
}
