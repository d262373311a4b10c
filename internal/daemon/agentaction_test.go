package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
)

// startAgent runs a daemon with one AGENT.md of an agent called coder.
func startAgent(t *testing.T, hooks string, agents map[string]config.Agent) (h *house, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "AGENT.md")
	writeFile(t, file, "---\nname: coder\nhooks:\n"+hooks+"---\nYou are a coder.\n", 0o644)
	return start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "familiar", Path: file}}
		c.Agents = agents
	}), file
}

func TestAnAgentActionGetsItsPrompt(t *testing.T) {
	hooks := `  - event: onStop
    name: wrap
    action: agent
    agent: wrap-up
    captureOutput: true
    prompt: "took {{duration_ms}} ms, said {{note}}"
`
	for _, prompt := range []string{"stdin", "arg"} {
		t.Run(prompt, func(t *testing.T) {
			h, _ := startAgent(t, hooks, map[string]config.Agent{
				"default": {
					Command: []string{
						"sh",
						"-c",
						`printf 'asked: '; if [ "$#" -gt 0 ]; then printf %s "$1"; else cat; fi`,
						"x",
					},
					Prompt: prompt,
				},
			})
			a := h.emit(
				`{"event":"onStop","wait":true,"agent_name":"coder","data":{"duration_ms":7,"note":"it's $(touch /tmp/no) \"q\""}}`,
			)
			if want := `asked: took 7 ms, said it's $(touch /tmp/no) "q"`; a.Verdict.AdditionalContext != want {
				t.Errorf("context = %q, want %q", a.Verdict.AdditionalContext, want)
			}
			runs, err := h.client.Runs(t.Context(), client.RunQuery{Agent: "coder"})
			if err != nil || len(runs) != 1 || runs[0].Spawned != "wrap-up" || runs[0].Hook != "wrap" ||
				!strings.Contains(runs[0].Input, "duration_ms") ||
				runs[0].Stdout.Bytes == 0 {
				t.Errorf("history of coder = %+v, %v", runs, err)
			}
		})
	}
}

func TestAnAgentActionIsKilledWithItsTree(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	h, _ := startAgent(t, `  - {event: onStop, action: agent, agent: slow, prompt: go, timeout: 300, onFailure: abort}
`, map[string]config.Agent{"slow": {Command: []string{"sh", "-c", `echo $$ >> ` + pids + `; setsid sh -c 'echo $$ >> ` + pids + `; exec sleep 60' & wait`}, Prompt: "stdin"}})
	a := h.emit(`{"event":"onStop","wait":true,"agent_name":"coder"}`)
	if a.Verdict.Allowed || a.Runs[0].Result != client.ResultTimeout {
		t.Errorf("verdict %+v, runs %+v; want the timeout to abort", a.Verdict, a.Runs)
	}
	text, _ := os.ReadFile(pids)
	for _, pid := range strings.Fields(string(text)) {
		h.until("process "+pid+" is gone", func() bool { return !lives(pid) })
	}
}

func TestAnAgentActionDoesNotStartItself(t *testing.T) {
	h, _ := startAgent(t, `  - {event: onStop, action: agent, agent: other, prompt: go}
`, map[string]config.Agent{"default": {Command: []string{"cat"}}})
	first := h.emit(`{"event":"onStop","wait":true,"agent_name":"coder"}`)
	if len(first.Matched) != 1 {
		t.Fatalf("matched %v", first.Matched)
	}
	inner := h.emit(`{"event":"onStop","wait":true,"agent_name":"coder","parent":"` + first.EventID + `"}`)
	if len(inner.Matched) != 0 {
		t.Errorf("an agent's own onStop started %v", inner.Matched)
	}
}

func TestAnAgentWithoutARunnerIsAFailure(t *testing.T) {
	h, _ := startAgent(t, `  - {event: onStop, action: agent, agent: absent, prompt: go}
`, nil)
	a := h.emit(`{"event":"onStop","wait":true,"agent_name":"coder"}`)
	if !a.Verdict.Allowed || a.Runs[0].Result != client.ResultSpawnError ||
		!strings.Contains(a.Runs[0].Error, "agents: in hookd.yaml") {
		t.Errorf("verdict %+v, runs %+v; want a failure that says what to configure", a.Verdict, a.Runs)
	}
	if n := h.logs.FilterLevelExact(zap.WarnLevel).FilterMessage("hook did not start").Len(); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

func TestObserversOfAnAgentDoNotDelayTheAnswer(t *testing.T) {
	release := filepath.Join(t.TempDir(), "release")
	h, _ := startAgent(
		t,
		`  - {event: beforeToolCall, action: script, script: "while [ ! -e `+release+` ]; do sleep 0.02; done", blocking: false, name: slow}
  - {event: beforeToolCall, action: script, script: "exit 0", name: guard}
`,
		nil,
	)
	a := h.emit(`{"event":"beforeToolCall","wait":true,"agent_name":"coder","data":{"tool_name":"Bash"}}`)
	if !a.Verdict.Allowed || len(a.Runs) != 1 || a.Runs[0].Hook != "guard" {
		t.Errorf("answer %+v, want that of the guard while the observer still runs", a)
	}
	writeFile(t, release, "", 0o644)
	if got := h.fullRun("slow").Result; got != client.ResultOK {
		t.Errorf("the observer ended %s", got)
	}
}

func TestAnAbortStopsLaterObserversToo(t *testing.T) {
	h, _ := startAgent(t, `  - {event: beforeToolCall, action: script, script: "exit 1", onFailure: abort, name: guard}
  - {event: beforeToolCall, action: script, script: "exit 0", blocking: false, name: logger}
`, nil)
	h.emit(`{"event":"beforeToolCall","wait":true,"agent_name":"coder","data":{"tool_name":"Bash"}}`)
	h.emit(`{"event":"beforeToolCall","agent_name":"other"}`)
	h.until("nothing is left in the queue", func() bool { return h.dispatch.Stats().QueuedEvents == 0 })
	runs, _ := h.client.Runs(t.Context(), client.RunQuery{Hook: "logger"})
	if len(runs) != 0 {
		t.Errorf("the logger ran after the abort: %+v", runs)
	}
}

func TestAgentFilesAreReloadedWithLastGood(t *testing.T) {
	h, file := startAgent(t, "  - {event: onStart, action: script, script: echo one, captureOutput: true}\n", nil)
	agent := func(hooks string) string { return "---\nname: coder\nhooks:\n" + hooks + "---\nYou are a coder.\n" }
	says := func(want string) {
		t.Helper()
		h.until("onStart says "+want, func() bool {
			return h.emit(
				`{"event":"onStart","wait":true,"agent_name":"coder","session_id":"`+time.Now().String()+`"}`,
			).Verdict.AdditionalContext == want
		})
	}
	says("one")
	vimSave(t, file, agent("  - {event: onStart, action: script, script: echo two, captureOutput: true}\n"))
	says("two")
	vimSave(t, file, agent("  - {event: onStartt, action: script, script: echo three}\n"))
	h.until(
		"the file is degraded",
		func() bool { s, err := h.client.Status(t.Context()); return err == nil && s.Hooks["degraded"] == 1 },
	)
	says("two")
	if s, _ := h.client.Status(t.Context()); len(s.Problems) == 0 || s.Problems[0].Line != 4 ||
		s.Problems[0].Column == 0 {
		t.Errorf("problems = %+v, want the line and column of the unknown event", s.Problems)
	}
	vimSave(t, file, agent("  - {event: onStart, action: script, script: echo four, captureOutput: true}\n"))
	says("four")
}
