package dialect

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// lists has the files outside an agent's folder that name each agent, and the loss where one is forgotten.
var lists = map[string]string{
	"agent_files.go":                             "a box shows its credentials",
	"../../facts/places.yaml":                    "its settings are no guarded place",
	"../../facts/programs/agents.yaml":           "its program is not known",
	"../../../docs/gallery/self-guard/HOOK.yaml": "self-guard does not ask about its options",
}

// called are the names that those lists have for an agent, where it is not that of its dialect.
var called = map[events.Dialect]string{
	events.ClaudeCode: "claude", events.GeminiCLI: "gemini", events.Antigravity: "antigravity|agy|gemini",
	events.Droid: "droid|factory", events.Qwen: "qwen",
}

// unlisted are the dialects that a list does not have: of programs without settings of hooks, or without options that
// take guards away.
var unlisted = map[string]string{
	"agent_files.go":                             "familiar hookd ",
	"../../facts/places.yaml":                    "docker-agent familiar ",
	"../../facts/programs/agents.yaml":           "docker-agent familiar vscode ",
	"../../../docs/gallery/self-guard/HOOK.yaml": "docker-agent familiar ",
}

// TestEachAgentIsInEachList: CONTRIBUTING.md says to add a new agent to these lists.
func TestEachAgentIsInEachList(t *testing.T) {
	for file, lost := range lists {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range systems {
			name := s.Name
			word := called[name]
			if word == "" {
				word = regexp.QuoteMeta(string(name))
			}
			found := regexp.MustCompile(`(?i)(?:^|[^a-z])(?:` + word + `)`).Match(text)
			if without := strings.Contains(unlisted[file], string(name)+" "); found == without {
				t.Errorf("%s: found in %s is %v, want %v: %s", name, file, found, !without, lost)
			}
		}
	}
}
