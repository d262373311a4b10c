package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// A call that a person tries with hookd's own command is in lists, marked, and in no count. A call in the name
// of an agent, from a hook, or from an agent's processes is a call of an agent.
func TestWhatIsTriedIsNotCounted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("hooks/tool/HOOK.yaml", "name: tool\nevents: agent:end\ntype: script\nscript: |\n"+
		"  \"$HOOKD\" emit PreToolUse --wait --data '{\"command\":\"from a hook\"}'; true\n")
	h.serve("HOOKD=" + hookdBinary(t, h.dir))
	hooktest.Until(t, "hookd is ready", h.ready)
	typed := func(args ...string) (text string) {
		t.Helper()
		cmd := h.command(append([]string{"emit", "PreToolUse", "--wait"}, args...)...)
		wrote, _ := hooktest.OnTerminal(cmd, nil) // denied: exit code 1
		return string(wrote)
	}
	counts := func() client.Counts {
		t.Helper()
		c, err := h.client.Counts(t.Context(), client.CountQuery{})
		hooktest.Must(t, err)
		return c
	}
	if text := typed("--session", "s", "--data", `{"command":"by hand"}`); !strings.Contains(text, "denied") || strings.Contains(text, "counts as") {
		t.Errorf("emit prints %s", text)
	}
	hooktest.Until(t, "it is decided", func() bool { return counts().Tried == 1 })
	sessions, err := h.client.Sessions(t.Context(), client.SessionQuery{})
	hooktest.Must(t, err)
	stats, err := h.client.Stats(t.Context(), client.StatsQuery{})
	hooktest.Must(t, err)
	if c := counts(); c.Total != 0 || len(c.Agents)+len(c.Hooks)+len(c.Tools) != 0 || len(sessions)+len(stats) != 0 {
		t.Errorf("it is counted: %+v, sessions %+v, stats %+v", c, sessions, stats)
	}
	for _, args := range [][]string{{"decisions"}, {"history", "-o", "wide"}, {"tail", "--once", "--since", "0"}} {
		h.says(0, "(tried)", args...)
	}
	h.says(0, "tried     by a person", "logs", "guard")
	guard, err := h.client.Hook(t.Context(), "guard")
	if err != nil || len(guard.Counts) != 0 || guard.LastRun == nil || !guard.LastRun.Tried {
		t.Errorf("the guard has %+v, %v", guard, err)
	}

	typed("--agent-name", "deploy-bot", "--data", `{"command":"of a script"}`)
	if out, code := h.hookd("emit", "agent:end", "--wait"); code != 0 {
		t.Errorf("emit: %s", out)
	}
	agent := h.path("agent.sh") // its bridge has asked before it emits
	h.write("agent.sh", `printf '%s' '{"session_id":"a","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"of an agent"}}' |
  "$HOOKD" bridge claude-code >/dev/null
"$HOOKD" emit PreToolUse --wait --data '{"command":"below an agent"}'
exit 0
`)
	cmd := exec.Command("sh", agent)
	cmd.Env = append(h.command().Env, "HOOKD="+hookdBinary(t, h.dir))
	wrote, err := hooktest.OnTerminal(cmd, nil)
	if err != nil || !strings.Contains(string(wrote), "it counts as a call of an agent: it comes from the processes of an agent") {
		t.Errorf("below an agent: %s, %v", wrote, err)
	}
	hooktest.Until(t, "the others are counted", func() bool { c := counts(); return c.Total == 4 && c.Tried == 1 })
	for _, command := range []string{"of a script", "from a hook", "of an agent", "below an agent"} {
		all, err := h.client.Decisions(t.Context(), client.DecisionQuery{Text: command})
		if err != nil || len(all) != 1 || all[0].Tried {
			t.Errorf("%s: %+v, %v", command, all, err)
		}
	}
}
