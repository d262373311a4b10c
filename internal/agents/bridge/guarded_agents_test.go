//go:build agents

package bridge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// someReals are the agents of a name.
func someReals(names ...string) (list []real) {
	for _, r := range slices.Concat(reals, plugged, others) {
		if slices.Contains(names, r.name) {
			list = append(list, r)
		}
	}
	return list
}

// An agent that ignores denials and rewrites is found by the results that it reports: here its hook
// command asks hookd and keeps the answer to itself.
func TestRealAgentsDisobey(t *testing.T) {
	for _, r := range someReals("claude-code", "gemini-cli") {
		t.Run(r.name, func(t *testing.T) {
			program, dir := r.found(t), t.TempDir()
			bridge, text := built(t, dir), r.text
			mute := filepath.Join(dir, "mute")
			hooktest.Write(t, mute, "#!/bin/sh\n"+bridge+" \"$@\" >/dev/null 2>&1\nexit 0\n", 0o755)
			r.text = func(call string, s *stage) string { return text(strings.Replace(call, bridge, mute, 1), s) }
			s := newStage(t, r, program, bridge)
			hooktest.Must(t, os.MkdirAll(s.work+"/made", 0o755)) // the old input works, too
			s.play(t, script{commands: commands[:2]})
			for subject, instead := range map[string]string{"rm -rf victim": "", "mkdir made/deep": "mkdir made/deep"} {
				hooktest.Until(t, subject+" is on record as disobeyed", func() bool {
					list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Decision: "disobeyed", Text: subject})
					hooktest.Must(t, err)
					return len(list) == 1 && list[0].Ran != nil && list[0].Ran.Instead == instead &&
						list[0].Outcome == client.OutcomeDisobeyed
				})
			}
		})
	}
}

// ordinary are calls that people see each day: they also fail, print to stderr and have more than one line.
var ordinary = []string{
	"echo ordinary %d", "echo ordinary %d; false", "ls missing-ordinary-%d", "printf 'ordinary %d' | cat",
	"cat <<'END'\nordinary %d\nEND", "echo 'ordinär: ordinary %d' >&2", "touch ordinary-%[1]d && rm ordinary-%[1]d",
}

// Nothing is said against many ordinary calls, one after another and together.
func TestRealAgentsManyCalls(t *testing.T) {
	const calls = 700
	for _, r := range someReals("claude-code", "codex", "pi") {
		t.Run(r.name, func(t *testing.T) {
			program := r.found(t)
			s := newStage(t, r, program, built(t, t.TempDir()))
			var all []string
			for i := range calls {
				all = append(all, fmt.Sprintf(ordinary[i%len(ordinary)], i))
			}
			n := 0
			for some := range slices.Chunk(all, 50) { // an agent reads all that was said before at each call
				n++
				s.play(t, script{commands: some, together: n%5 == 0})
			}
			list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Event: "tool.before", Text: "ordinary", Limit: 2 * calls})
			hooktest.Must(t, err)
			ran := 0
			for _, d := range list {
				if d.Ran != nil {
					ran++
				}
			}
			if len(list) != calls || ran != calls {
				t.Errorf("%d calls are on record, %d with a result, want %d", len(list), ran, calls)
			}
			s.guarded(t)
		})
	}
}
