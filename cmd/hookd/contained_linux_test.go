package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// An agent may know hookd's socket by its hook's command alone, as `hookd connect --socket` writes it. The box of its
// call finds hookd all the same: else it would be the strict one, and the agent would seem to have disobeyed.
func TestABoxFindsTheSocketOfItsHook(t *testing.T) {
	home, elsewhere := hooktest.ShortDir(t), t.TempDir()
	hooktest.Hook(t, home, "box", "events: PreToolUse\nmatcher: Bash\n", `echo '{"decision":"contain","profile":"project"}'`+"\n")
	hooktest.Serve(t, home)
	socket := filepath.Join(home, "hookd.sock")
	c := client.New(client.Options{Socket: socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return c.Ready(t.Context()) == nil })
	project := filepath.Join(elsewhere, "project")
	hooktest.Must(t, os.Mkdir(project, 0o755))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + elsewhere}
	run := func(stdin string, name string, args ...string) (out, errs string) {
		var stdout, stderr strings.Builder
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, project, strings.NewReader(stdin), &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %q: %v\n%s%s", name, args, err, stdout.String(), stderr.String())
		}
		return stdout.String(), stderr.String()
	}
	call := `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","cwd":"` + project +
		`","tool_input":{"command":"echo inside"}}`
	said, _ := run(call, filepath.Join(hooktest.Programs(t), "hookd-bridge"), "claude-code", "--socket", socket)
	var answer struct {
		Output struct {
			Input struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	hooktest.Must(t, json.Unmarshal([]byte(said), &answer))
	line := answer.Output.Input.Command
	if line == "" {
		t.Skipf("SKIP-TOOL box: this machine makes none: %s", said)
	}
	out, errs := run("", "bash", "-c", line)
	if out != "inside\n" || errs != "" {
		t.Errorf("%s\nprinted %q and %q", line, out, errs)
	}
}
