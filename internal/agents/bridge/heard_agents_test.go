//go:build agents

package bridge

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// heardHook answers a call by a word in it.
var heardHook = map[string][2]string{"outcomes": {"events: [PreToolUse]\nmatcher: Bash\n", `case "$(cat)" in
*say-deny*) echo 'no-4711' >&2; exit 2;;
*say-ask*) echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure-4711"}}';;
*say-rewrite*) echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"echo instead-4711"}}}';;
*say-fail*) echo 'broken-4711' >&2; exit 1;;
esac
`}}

// TestRealAgentsHeard: the record of a decision is the answer that the model of a real agent got.
func TestRealAgentsHeard(t *testing.T) {
	for _, r := range reals {
		if !slices.Contains([]string{"claude-code", "codex", "gemini-cli"}, r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			program := r.found(t)
			r.hooks = heardHook
			s := newStage(t, r, program, built(t, t.TempDir()))
			for word, want := range map[string]struct{ outcome, got string }{
				"say-deny": {"deny", "no-4711"}, "say-ask": {"deny", "sure-4711"}, "say-rewrite": {"rewrite", "instead-4711"},
				"say-fail": {"deny", "broken-4711"}, "say-nothing": {"none", "say-nothing"},
			} {
				if r.name == "gemini-cli" && word == "say-ask" {
					continue // it waits for a person, whom a headless run does not have
				}
				s.play(t, script{commands: []string{"echo " + word}})
				var found []client.Decision
				hooktest.Until(t, "the decision about "+word, func() bool {
					list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Text: "echo " + word, Event: "tool.before"})
					found = list
					return err == nil && len(list) > 0
				})
				d := found[0]
				if string(d.Outcome) != want.outcome || d.Told == nil || d.Told.Unsure != "" {
					t.Errorf("%s: the record is %s, told %+v, want %s", word, d.Outcome, d.Told, want.outcome)
				}
				last := s.model.asked()[len(s.model.asked())-1]
				if !strings.Contains(last, want.got) {
					t.Errorf("%s: the model got no %s:\n%.3000s", word, want.got, last)
				}
			}
		})
	}
}
