package bridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// house starts a daemon with hooks: folder name to HOOK.yaml and run.sh.
func house(t *testing.T, hooks map[string][2]string) (socket string) {
	t.Helper()
	socket, _ = startDaemon(t, furnished(t, hooks))
	return socket
}

// furnished is a home with hooks.
func furnished(t *testing.T, hooks map[string][2]string) (home string) {
	t.Helper()
	home = hooktest.ShortDir(t)
	for name, files := range hooks {
		hooktest.Hook(t, home, name, files[0], files[1])
	}
	return home
}

// startDaemon runs a daemon, the built program, until the test ends or stop is called.
func startDaemon(t *testing.T, home string) (socket string, stop func()) {
	t.Helper()
	socket = filepath.Join(home, "hookd.sock")
	stop = hooktest.Serve(t, home, "HOOKD_FIRE_STARTUP=false")
	c := client.New(client.Options{Socket: socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return c.Ready(t.Context()) == nil })
	return socket, stop
}

// captured reads a payload of an agent: DIALECT/EVENT.json.
func captured(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../contract/dialect/*/testdata", name))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %q for %s: %v", files, name, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// One guard, one rewriter and one hook with context answer three agents, each
// in its own words.
func TestOneHookServesAgents(t *testing.T) {
	socket := house(t, map[string][2]string{
		"guard":    {"events: [PreToolUse]\nmatcher: Bash|run_shell_command\n", "grep -q 'rm -rf' && { echo 'no rm -rf' >&2; exit 2; }\nexit 0\n"},
		"rewriter": {"events: [PreToolUse]\n", `sed -n 's/.*echo hello.*/{"hookSpecificOutput":{"updatedInput":{"command":"echo -n hello"}}}/p'` + "\n"},
		"context":  {"events: [SessionStart]\n", "echo 'the context'\n"},
	})
	for _, tt := range []struct{ agent, file, deny, modify, context string }{
		{"claude-code", "PreToolUse",
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm -rf"}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo -n hello","description":"run it"}}}`,
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the context"}}`},
		{"codex", "PreToolUse",
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm -rf"}}`,
			`{"systemMessage":"` + neutral.InputStays("Codex") + `"}`, // it takes a new input with an approval only
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the context"}}`},
		{"gemini-cli", "BeforeTool",
			`{"decision":"deny","reason":"no rm -rf"}`,
			`{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"echo -n hello","description":"run it"}}}`,
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the context"}}`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			payload := captured(t, tt.agent+"/"+tt.file+".json")
			o := Options{Agent: tt.agent, Socket: socket}
			for want, payload := range map[string]string{
				tt.deny:   strings.Replace(payload, "echo hello-from-tool", "rm -rf /", 1),
				tt.modify: payload,
			} {
				if got := called(t, o, payload); got != (said{want + "\n", "", 0}) {
					t.Errorf("got %+v, want %s", got, want)
				}
			}
			if got := called(t, o, captured(t, tt.agent+"/SessionStart.json")); got != (said{tt.context + "\n", "", 0}) {
				t.Errorf("got %+v, want %s", got, tt.context)
			}
		})
	}
}
