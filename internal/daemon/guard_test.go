package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/config"
)

const rm = `{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"cmd":"rm -rf build"}}}`

// A guard that denies all denies a call also at the limits of the bridge, of hookd, and of the layers that hookd adds.
func TestCallsAtTheLimitsAreDenied(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "guard", "events: [pre_tool_use]\n", "exit 2\n")
	h := start(t, home, func(c *config.Config) { c.MaxEventBytes = 1 << 20 })
	call := func(more string) string {
		var out, notes bytes.Buffer
		exit := bridge.Run(t.Context(), bridge.Options{
			Agent: "claude-code", Socket: h.config.Socket, State: home, Stdout: &out, Stderr: &notes,
			Stdin: strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"more":` +
				more + `}}`),
			Getenv: func(string) string { return "" },
		})
		return fmt.Sprintf("exit %d, %s, %s", exit, &out, &notes)
	}
	for depth := 9990; depth < 10_002; depth++ {
		said := call(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if !strings.HasPrefix(said, "exit 0, ") || !strings.Contains(said, `"deny"`) {
			t.Errorf("%d levels: %.300s", depth, said)
		}
	}
	for size := 1<<20 - 700; size < 1<<20+100; size += 40 {
		said := call(`"` + strings.Repeat("x", size) + `"`)
		if !strings.HasPrefix(said, "exit 0, ") || !strings.Contains(said, `"deny"`) {
			t.Errorf("%d bytes: %.300s", size, said)
		}
	}
}

func TestABrokenGuardDenies(t *testing.T) {
	for _, tt := range []struct {
		name, yaml, script string
		mode               os.FileMode
		result             client.Result
		cause              string // in the message, beside the hook's name
	}{
		{"timeout", "timeout: 200ms\n", "#!/bin/sh\nsleep 60\n", 0o755, client.ResultTimeout, "timed out after 200ms"},
		{"crash", "", "#!/bin/sh\nkill -SEGV $$\n", 0o755, client.ResultFailed, "SIGSEGV"},
		{"exit", "", "#!/bin/sh\nexit 3\n", 0o755, client.ResultFailed, "exited with status 3"},
		{"garbage", "", "#!/bin/sh\necho '{\"decision\": 7}'\n", 0o755, client.ResultFailed, "decision"},
		{"not-executable", "", "#!/bin/sh\nexit 0\n", 0o644, client.ResultSpawnError, "chmod +x"},
		{"no-shebang", "", "exit 0\n", 0o755, client.ResultSpawnError, "run.sh"},
		{"strict-text", "strict_output: true\n", "#!/bin/sh\necho fine\n", 0o755, client.ResultFailed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			for _, events := range []string{"[pre_tool_use]", "['*']"} { // a guard, and an observer with the same fault
				name := map[bool]string{true: "guard", false: "observer"}[strings.Contains(events, "pre")]
				dir := writeHook(t, home, name, "events: "+events+"\n"+tt.yaml, "")
				writeFile(t, filepath.Join(dir, "run.sh"), tt.script, tt.mode)
				if err := os.Chmod(filepath.Join(dir, "run.sh"), tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			h := start(t, home, func(c *config.Config) { c.FireStartup = false })
			a := h.emit(rm)
			if a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, `"guard"`) ||
				!strings.Contains(a.Verdict.Message, tt.cause) {
				t.Errorf("verdict = %+v, want a denial that names the guard and %q", a.Verdict, tt.cause)
			}
			if len(a.Runs) != 1 || a.Runs[0].Result != tt.result {
				t.Errorf("runs = %+v, want one %s", a.Runs, tt.result)
			}
			if tt.name != "strict-text" { // to an observer, text is no fault
				h.until("the observer's fault is logged", func() bool {
					return h.logs.FilterLevelExact(zap.WarnLevel).
						FilterField(zap.String("hook", "observer")).
						FilterField(zap.String("event", "pre_tool_use")).
						Len() ==
						1
				})
			}
			other := h.emit(`{"event":"post_tool_use","wait":true}`)
			if !other.Verdict.Allowed {
				t.Errorf("an observer denied: %+v", other.Verdict)
			}
		})
	}
}

func TestGuardsOfHookFolders(t *testing.T) {
	home := newHome(t)
	copyExample(t, home, "guard-rm")
	h := start(t, home, nil)
	a := h.emit(rm)
	if a.Verdict.Allowed || a.Verdict.ExitCode != 2 || a.Verdict.Message == "" ||
		!slices.Equal(a.Verdict.DecidedBy, a.Matched) {
		t.Errorf("verdict = %+v, matched %v", a.Verdict, a.Matched)
	}
	if a := h.emit(strings.Replace(rm, "rm -rf build", "ls", 1)); !a.Verdict.Allowed || a.Verdict.PermissionDecision != "" {
		t.Errorf("ls: %+v, want no opinion", a.Verdict)
	}
}

func TestFieldsOfDecidableHooks(t *testing.T) {
	home := newHome(t)
	deny := "echo no >&2; exit 2"
	writeHook(t, home, "matched", "events: [pre_tool_use]\nmatcher: 'edit_.*'\n", deny)
	writeHook(t, home, "filtered", "events: [pre_tool_use]\nfilter: {tools: [write], workspaces: ['/srv/*']}\n", deny)
	writeHook(t, home, "observing", "events: [pre_tool_use]\nblocking: false\n", deny)
	writeHook(t, home, "warns", "events: [user_prompt_submit]\n", "exit 1")
	dir := filepath.Join(home, "hooks", "text")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(
		t,
		filepath.Join(dir, "HOOK.yaml"),
		"name: text\ntype: script\nevents: [turn_start]\nscript: |\n  echo \"it is $HOOK_EVENT\" | tr a-z A-Z\n",
		0o644,
	)
	h := start(t, home, nil)
	ask := func(tool, cwd string) bool {
		return h.emit(
			`{"event":"pre_tool_use","wait":true,"cwd":"` + cwd + `","data":{"tool_name":"` + tool + `"}}`,
		).Verdict.Allowed
	}
	for _, tt := range []struct {
		tool, cwd string
		want      bool
	}{{"shell", "/", true}, {"edit_file", "/", false}, {"my_edit_file", "/", true}, {"write", "/srv/x/y", false}, {"write", "/home", true}, {"write", "", true}} {
		if got := ask(tt.tool, tt.cwd); got != tt.want {
			t.Errorf("%s in %q: allowed %t, want %t", tt.tool, tt.cwd, got, tt.want)
		}
	}
	if v := h.emit(`{"event":"user_prompt_submit","wait":true}`).Verdict; !v.Allowed ||
		!strings.Contains(v.SystemMessage, "warns") {
		t.Errorf("verdict = %+v, want allowed with a warning", v)
	}
	if v := h.emit(`{"event":"turn_start","wait":true}`).Verdict; v.AdditionalContext != "IT IS TURN_START" {
		t.Errorf("context = %q", v.AdditionalContext)
	}
}

func TestLibreFangEventsObserveWhateverAHookPrints(t *testing.T) {
	home := newHome(t)
	writeHook(
		t,
		home,
		"shouts",
		"events: [agent:end]\nblocking: true\non_error: block\n",
		`echo '{"decision":"block","continue":false}'; exit 2`,
	)
	h := start(t, home, nil)
	if v := h.emit(`{"event":"agent:end","wait":true}`).Verdict; !v.Allowed || !v.Continue || v.Message != "" {
		t.Errorf("agent:end: %+v", v)
	}
	if v := h.emit(`{"event":"Stop","wait":true}`).Verdict; !v.Allowed || v.Message != "" {
		t.Errorf("Stop: %+v", v)
	}
}

// TestAVerdictDoesNotWaitForTheQueue logs how long verdicts take with and
// without 200 queued observers. It requires only that the verdict is
// there while they still wait.
func TestAVerdictDoesNotWaitForTheQueue(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "slow", "events: [tick]\norder: parallel\n", "sleep 0.3")
	writeHook(t, home, "guard", "events: [pre_tool_use]\n", "exit 0")
	h := start(t, home, nil)
	measure := func() time.Duration {
		var times []time.Duration
		for range 21 {
			began := time.Now()
			h.emit(rm)
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	idle := measure()
	for range 200 {
		if _, err := h.client.Emit(t.Context(), client.Event{Event: "tick"}); err != nil {
			t.Fatal(err)
		}
	}
	h.emit(rm)
	queued := h.dispatch.Stats().QueuedRuns
	busy := measure()
	t.Logf("median of 21 verdicts: %s with an empty queue, %s with %d observers queued", idle, busy, queued)
	if queued < 100 {
		t.Errorf("only %d observers still waited when the verdict came", queued)
	}
}
