package catalog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// By the tables of the agents themselves: no tool that Claude Code has is said to be unknown, and a guard of
// Write and Edit is told of NotebookEdit.
func TestMatchersOfRealTools(t *testing.T) {
	tools := "Agent Bash Edit ExitPlanMode Glob Grep NotebookEdit PowerShell Read Skill TaskCreate WebSearch Write"
	wanted := map[string]string{
		"Bash|Write|Edit": "leaves out NotebookEdit", "Write|Edit|MultiEdit": "leaves out NotebookEdit",
		"^(Edit|Write)$": "leaves out NotebookEdit", "Edit|Write|NotebookEdit": "", "mcp__*": "did you mean `mcp__.*`?",
		"Notebook.*": "", "Bosh": "fits no tool that is known",
	}
	for _, tool := range strings.Fields(tools) {
		wanted[tool] = ""
	}
	wanted["Skill"] = "no tool of qwen-code: letter case counts (did you mean `skill`?)" // both agents have one
	for matcher, want := range wanted {
		dir := filepath.Join(t.TempDir(), "g")
		hooktest.Write(t, filepath.Join(dir, "HOOK.yaml"),
			"name: g\nevents: PreToolUse\nmatcher: "+matcher+"\ntype: script\nscript: echo no >&2; exit 2\n", 0o600)
		_, problems := hookdir.Read(dir, hookdir.Options{KnownTools: knownTools})
		said := ""
		for _, p := range problems {
			said += p.Message + " (" + p.Hint + ")\n"
		}
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q in it", matcher, said, want)
		}
	}
}
