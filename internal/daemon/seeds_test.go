package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// documented starts a daemon with one file of testdata/docker-agent, in a
// folder of its own, and returns how to ask it.
func documented(t *testing.T, file string) (ask func(event, fields string) client.Answer, dir string, h *house) {
	t.Helper()
	need(t, "jq", "bash")
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/docker-agent")); err != nil {
		t.Fatal(err)
	}
	// Its hooks write logs below /tmp, which a file of another user may be in the way of.
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	hooktest.Write(t, filepath.Join(dir, file), strings.ReplaceAll(string(text), "/tmp/agent-", dir+"/agent-"), 0o644)
	for _, script := range []string{"validate-command.sh", "log-tool-call.sh"} {
		if err := os.Chmod(filepath.Join(dir, "scripts", script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h = start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, file)}}
		c.Env = map[string]string{"SHELL": "/bin/sh"}
	})
	return func(event, fields string) client.Answer {
		t.Helper()
		a, err := h.client.Emit(
			t.Context(),
			client.Event{
				Event: event,
				Data:  json.RawMessage(`{"session_id":"s1"` + fields + `}`),
				Wait:  true,
				Cwd:   dir,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}, dir, h
}

// docker-agent's own example file of hooks behaves as its header says.
func TestSeed002(t *testing.T) {
	ask, dir, _ := documented(t, "hooks.yaml")
	shell := func(cmd string) string {
		return fmt.Sprintf(`,"tool_name":"shell","tool_input":{"cmd":%q,"cwd":"."}`, cmd)
	}
	const denied = "🚫 HOOK BLOCKED: dangerous command pattern detected. rm -rf, sudo, mkfs, dd are not allowed."
	for _, cmd := range []string{"rm -rf /tmp/test", "sudo apt update"} {
		if v := ask("pre_tool_use", shell(cmd)).Verdict; v.Allowed || v.Message != denied ||
			v.PermissionDecision != "deny" {
			t.Errorf("%s: verdict %+v, want it denied with the example's message", cmd, v)
		}
	}
	if v := ask("pre_tool_use", shell("echo hello")).Verdict; !v.Allowed || v.PermissionDecision != "" ||
		v.UpdatedInput != nil {
		t.Errorf("echo hello: verdict %+v, want no opinion", v)
	}
	v := ask("pre_tool_use", shell("ls src")).Verdict
	if got, want := string(v.UpdatedInput), `{"cmd":"ls -h src","cwd":"."}`; !v.Allowed ||
		v.PermissionDecision != "allow" ||
		got != want {
		t.Errorf("ls src: input %s, verdict %+v, want %s allowed", got, v, want)
	}
	if want := "📝 Hook modified command: added -h for human-readable output"; v.SystemMessage != want {
		t.Errorf("ls src: system message %q, want %q", v.SystemMessage, want)
	}
	v = ask("post_tool_use", `,"tool_name":"shell","tool_response":"four","tool_error":true`).Verdict
	if want := "✅ Post-hook: shell completed (error=true, output=5 chars, profile=dev)"; v.AdditionalContext != want {
		t.Errorf("post_tool_use: context %q, want %q", v.AdditionalContext, want)
	}
	if v := ask("permission_request", shell("pwd")).Verdict; !v.PermissionAllowed ||
		v.DecisionReason != "safe read-only command" {
		t.Errorf("permission_request: verdict %+v, want the example's auto-allow", v)
	}
	if v := ask("permission_request", shell("make install")).Verdict; v.PermissionAllowed || !v.Allowed {
		t.Errorf("permission_request: verdict %+v, want no opinion", v)
	}
	for event, want := range map[string]string{
		"session_start":      "Session log: " + dir + "/agent-session.log",
		"user_prompt_submit": "Hook hint: agent log files live under " + dir + "/agent-*.log",
		"pre_compact":        "When summarizing, please preserve any TODOs, file paths, and command outputs verbatim.",
	} {
		if v := ask(event, `,"prompt":"where are the logs?"`).Verdict; !strings.Contains(v.AdditionalContext, want) {
			t.Errorf("%s: context %q, want %q", event, v.AdditionalContext, want)
		}
	}
}

func TestEveryHookOfSeed002Runs(t *testing.T) {
	ask, _, h := documented(t, "hooks.yaml")
	ran := map[string]bool{}
	for _, e := range h.discovery.Current().Entries {
		if event := e.Hook.Patterns[0].Text; !ran[event] {
			ran[event] = true
			a := ask(event, `,"tool_name":"shell","tool_input":{"cmd":"date"}`)
			if len(a.Runs) == 0 {
				t.Errorf("%s: nothing ran", event)
			}
			for _, r := range a.Runs {
				if r.Result != client.ResultOK {
					t.Errorf("%s: %s %s", event, r.Result, r.Error)
				}
			}
		}
	}
	if want := 19; len(ran) != want {
		t.Errorf("hooks for %d events, want %d", len(ran), want)
	}
}

func TestSeed002WithItsCommentedBlockSwitchedOn(t *testing.T) {
	ask, _, _ := documented(t, "hooks-summary.yaml")
	v := ask("before_compaction", `,"compaction_reason":"manual"`).Verdict
	if want := "Conversation summarized by the deterministic strategy."; !v.Allowed ||
		!strings.HasPrefix(v.Summary, want) {
		t.Errorf("verdict %+v, want the summary %q…", v, want)
	}
}

func TestBeforeCompactionCanBeVetoed(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "agent.yaml"), `agents:
  root:
    hooks:
      before_compaction:
        - type: command
          command: |
            echo "not now" >&2
            exit 2
`, 0o644)
	h := start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, "*.yaml")}}
	})
	if v := h.emit(`{"event":"before_compaction","wait":true}`).Verdict; v.Allowed || v.Message != "not now" ||
		v.ExitCode != 2 {
		t.Errorf("verdict %+v, want a veto", v)
	}
}

// The two scripts of docker-agent's hook documentation.
func TestSeed004(t *testing.T) {
	ask, dir, _ := documented(t, "agent.yaml")
	v := ask("pre_tool_use", `,"tool_name":"shell","tool_input":{"cmd":"rm -rf /tmp/cache"}`).Verdict
	if want := "Dangerous command blocked by policy"; v.Allowed || v.Message != want || v.ExitCode != 2 {
		t.Errorf("rm -rf: verdict %+v, want it denied with %q", v, want)
	}
	if v := ask("pre_tool_use", `,"tool_name":"shell","tool_input":{"cmd":"ls"}`).Verdict; !v.Allowed ||
		v.Message != "" {
		t.Errorf("ls: verdict %+v, want no opinion", v)
	}
	if v := ask("post_tool_use", `,"tool_name":"shell","tool_response":"x"`).Verdict; !v.Allowed || !v.Continue {
		t.Errorf("post_tool_use: verdict %+v", v)
	}
	log, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil || !strings.HasSuffix(string(log), " | s1 | shell\n") {
		t.Errorf("audit.log = %q, %v, want one line of the call in the event's cwd", log, err)
	}
}

func TestDockerAgentFilesAreReloadedWithLastGood(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	agent := func(say string) string {
		return "agents:\n  root:\n    hooks:\n      stop:\n        - {type: command, command: 'echo " + say + "'}\n"
	}
	writeFile(t, path, agent("one"), 0o644)
	h := start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "docker-agent", Path: path}}
	})
	says := func(want string) {
		t.Helper()
		h.until("stop says "+want, func() bool {
			return strings.TrimSpace(h.emit(`{"event":"stop","wait":true}`).Verdict.AdditionalContext) == want
		})
	}
	says("one")
	vimSave(t, path, agent("two"))
	says("two")
	vimSave(t, path, "agents:\n  root:\n    hooks:\n      stopp: []\n")
	h.until(
		"the file is degraded",
		func() bool { s, err := h.client.Status(t.Context()); return err == nil && s.Hooks["degraded"] == 1 },
	)
	says("two")
	if s, _ := h.client.Status(t.Context()); len(s.Problems) == 0 || s.Problems[0].Line != 4 {
		t.Errorf("problems = %+v, want the line of the unknown event", s.Problems)
	}
	vimSave(t, path, agent("three"))
	says("three")
}
