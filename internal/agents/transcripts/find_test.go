package transcripts

import (
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// Transcripts are looked for where the variables of an agent lead, as the agent's settings are.
func TestVariablesLeadToTranscripts(t *testing.T) {
	for agent, want := range map[events.Dialect]string{
		"claude-code": "/moved/projects", "codex": "/moved/archived_sessions", "copilot": "/moved/session-state",
		"gemini-cli": "/moved/.gemini/tmp", "kimi": "/moved/sessions", "openclaw": "/moved/agents", "pi": "/moved/sessions",
		"qwen-code": "/moved/projects",
	} {
		s := dialect.Settings(agent)
		variable := s.DirEnv
		if variable == "" {
			variable = s.HomeEnv
		}
		for value, root := range map[string]string{"/moved": want, "relative": ""} {
			got := find(agent).roots(places{home: "/home/ann", env: func(name string) string {
				if name == variable {
					return value
				}
				return ""
			}})
			if root != "" && !slices.Contains(got, root) {
				t.Errorf("%s with %s=%s: got %q, want %s among them", agent, variable, value, got, root)
			}
			for _, path := range got {
				if path[0] != '/' {
					t.Errorf("%s with %s=%s: %s is relative", agent, variable, value, path)
				}
			}
		}
	}
}

// Copies are where the settings of an agent are, or its variables say.
func TestCopies(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude", "GEMINI_CLI_HOME": "relative"}
	want := map[string]string{"a copy of Claude Code": "/srv/claude", "a copy of Gemini CLI": "/home/ann/.gemini"}
	for _, c := range (Options{Home: "/home/ann", Env: func(name string) string { return env[name] }}).Copies() {
		if c.Folder != want[c.Where] {
			t.Errorf("%s is in %s, want %s", c.Where, c.Folder, want[c.Where])
		}
	}
}
