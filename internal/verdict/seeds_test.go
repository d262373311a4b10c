package verdict_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/source/dockeragent"
	"github.com/hookd/hookd/internal/verdict"
)

// docs runs the hooks of a documented docker-agent file for one event, with
// real processes, and folds their answers.
func docs(t *testing.T, file, cwd, event, fields string) *verdict.Verdict {
	t.Helper()
	for _, tool := range []string{"jq", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the documented hooks need %s", tool)
		}
	}
	hooks, problems := dockeragent.Read("../../testdata/docker-agent/"+file, dockeragent.Options{Shell: "/bin/sh"})
	for _, p := range problems {
		if !p.Warning {
			t.Fatal(p)
		}
	}
	kept := hooks[:0]
	for _, h := range hooks {
		if h.Patterns[0].Text == event {
			kept = append(kept, h)
		}
	}
	var input map[string]any
	if err := json.Unmarshal([]byte(`{"session_id":"s1","hook_event_name":"`+event+`",`+fields+`}`), &input); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	c := conformanceCase{Event: event, Input: input}
	return c.dispatch(kept, cwd, data)
}

// The example of seed 002, as its own header says it behaves.
func TestSeed002(t *testing.T) {
	shell := func(cmd string) string { return `"tool_name":"shell","tool_input":{"cmd":` + cmd + `,"cwd":"."}` }
	dir := t.TempDir()
	const denied = "🚫 HOOK BLOCKED: dangerous command pattern detected. rm -rf, sudo, mkfs, dd are not allowed."
	for _, cmd := range []string{`"rm -rf /tmp/test"`, `"sudo apt update"`} {
		v := docs(t, "hooks.yaml", dir, "pre_tool_use", shell(cmd))
		if v.Allowed || v.Message != denied || v.PermissionDecision != "deny" {
			t.Errorf("%s: verdict %+v, want it denied with the example's message", cmd, v)
		}
	}
	if v := docs(t, "hooks.yaml", dir, "pre_tool_use", shell(`"echo hello"`)); !v.Allowed || v.PermissionDecision != "" || v.UpdatedInput != nil {
		t.Errorf("echo hello: verdict %+v, want no opinion", v)
	}
	v := docs(t, "hooks.yaml", dir, "pre_tool_use", shell(`"ls src"`))
	if got, want := string(v.UpdatedInput), `{"cmd":"ls -h src","cwd":"."}`; !v.Allowed || v.PermissionDecision != "allow" || got != want {
		t.Errorf("ls src: input %s, verdict %+v, want %s allowed", got, v, want)
	}
	if want := "📝 Hook modified command: added -h for human-readable output"; v.SystemMessage != want {
		t.Errorf("ls src: system message %q, want %q", v.SystemMessage, want)
	}
	v = docs(t, "hooks.yaml", dir, "post_tool_use", `"tool_name":"shell","tool_response":"four","tool_error":true`)
	if want := "✅ Post-hook: shell completed (error=true, output=5 chars, profile=dev)"; v.AdditionalContext != want {
		t.Errorf("post_tool_use: context %q, want %q", v.AdditionalContext, want)
	}
	v = docs(t, "hooks-summary.yaml", dir, "before_compaction", `"compaction_reason":"manual"`)
	if want := "Conversation summarized by the deterministic strategy."; !v.Allowed || !strings.HasPrefix(v.Summary, want) {
		t.Errorf("before_compaction: summary %q, verdict %+v, want %q…", v.Summary, v, want)
	}
}

// The two scripts of seed 004.
func TestSeed004(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/docker-agent")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"validate-command.sh", "log-tool-call.sh"} {
		if err := os.Chmod(filepath.Join(dir, "scripts", script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	v := docs(t, "agent.yaml", dir, "pre_tool_use", `"tool_name":"shell","tool_input":{"cmd":"rm -rf /tmp/cache"}`)
	if want := "Dangerous command blocked by policy"; v.Allowed || v.Message != want || v.ExitCode != 2 {
		t.Errorf("rm -rf: verdict %+v, want it denied with %q", v, want)
	}
	if v := docs(t, "agent.yaml", dir, "pre_tool_use", `"tool_name":"shell","tool_input":{"cmd":"ls"}`); !v.Allowed || v.Message != "" {
		t.Errorf("ls: verdict %+v, want no opinion", v)
	}
	if v := docs(t, "agent.yaml", dir, "post_tool_use", `"tool_name":"shell","tool_response":"x"`); !v.Allowed || !v.Continue {
		t.Errorf("post_tool_use: verdict %+v", v)
	}
	log, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil || !strings.HasSuffix(string(log), " | s1 | shell\n") {
		t.Errorf("audit.log = %q, %v, want one line of the call in the event's cwd", log, err)
	}
}
