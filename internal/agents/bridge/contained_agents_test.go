//go:build agents

package bridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A contained line of a real agent writes the project and no more. Its model reads why, and goes on.
func TestRealAgentsContained(t *testing.T) {
	for _, r := range someReals("claude-code", "codex", "gemini-cli", "opencode") {
		t.Run(r.name, func(t *testing.T) {
			program, bridge := r.found(t), built(t, t.TempDir())
			answer := `{"decision":"contain","profile":"project","reason":"it is not known"}`
			r.hooks = map[string][2]string{"shell": {"events: [PreToolUse, BeforeTool]\n", "echo '" + answer + "'\n"}}
			s := newStage(t, r, program, bridge)
			out := filepath.Join(s.home, "outside")
			s.play(t, script{commands: []string{"touch inside; touch " + out, "touch second"}})
			if _, err := os.Stat(out); !s.has("inside") || !s.has("second") || err == nil {
				t.Errorf("in the project: %v, by the next step: %v, outside: %v", s.has("inside"), s.has("second"), err == nil)
			}
			if !strings.Contains(strings.Join(s.model.asked(), "\n"), "hookd ran this in the box") {
				t.Error("the model did not read why")
			}
		})
	}
}
