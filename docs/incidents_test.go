package docs

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/hookd/hookd/client"
)

// incident is a row of README's table: a line that an agent has run, and hookd's answer.
var incident = regexp.MustCompile("(?m)^\\| .*\\]\\(https://github\\.com/[^)]+/issues/\\d+\\) \\| `([^`]+)` \\| (denies|asks) \\|$")

// The guard that comes with hookd answers to the incidents of others as README says.
func TestIncidents(t *testing.T) {
	rows := incident.FindAllStringSubmatch(read(t, "../README.md"), -1)
	if len(rows) != 8 {
		t.Fatalf("README has %d incidents, want 8", len(rows))
	}
	home := newHome(t)
	install(t, home, "command-guard", nil)
	h := start(t, home)
	for _, row := range rows {
		data, err := json.Marshal(map[string]any{
			"hook_event_name": "PreToolUse", "session_id": "s", "cwd": home, "tool_name": "Bash",
			"tool_input": map[string]string{"command": row[1]},
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := h.client.Emit(t.Context(), client.Event{
			Event: "PreToolUse", Dialect: "claude-code", Wait: true, Tried: true, Data: data,
		})
		if err != nil || answer.Verdict == nil {
			t.Fatalf("%s: %v, %v", row[1], answer, err)
		}
		want := map[string]string{"denies": "deny", "asks": "ask"}[row[2]]
		if got := answer.Verdict.PermissionDecision; got != want {
			t.Errorf("%s: hookd says %q, README %q", row[1], got, want)
		}
	}
}
