//go:build agents

package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// codexSession is the id that Codex gives a command that still runs.
var codexSession = regexp.MustCompile(`session ID (\d+)`)

// TestRealAgentsWrittenShell: Codex calls no hook for what its model writes to a shell that runs, so the decision on
// the shell counts for its lines, too. A denied shell and an unanswered ask read no line; lines of a contained shell
// run in its box.
func TestRealAgentsWrittenShell(t *testing.T) {
	r := someReals("codex")[0]
	program, bridge := r.found(t), built(t, t.TempDir())
	for _, tt := range []struct {
		name, answer    string
		inside, outside bool // the shell's lines made a file in the project, and in the home
	}{
		{"free", "", true, true},
		{"denied", `{"decision":"deny","reason":"no shell"}`, false, false},
		{"asked", `{"decision":"ask","reason":"a shell"}`, false, false},
		{"contained", `{"decision":"contain","profile":"project","reason":"a shell"}`, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := r
			r.hooks = map[string][2]string{"shell": {"events: [PreToolUse]\nmatcher: Bash\n", "echo '" + tt.answer + "'\n"}}
			s := newStage(t, r, program, bridge)
			out := filepath.Join(s.home, "outside")
			s.play(t, script{delegate: &delegate{
				tool: "exec_command",
				args: func(string) object { return object{"cmd": "bash", "tty": true, "yield_time_ms": 1000} },
				wait: func(history string) *toolUse {
					id := codexSession.FindStringSubmatch(history)
					if id == nil || strings.Contains(history, `"name":"write_stdin"`) {
						return nil
					}
					return &toolUse{tool: "write_stdin", args: object{
						"session_id": json.Number(id[1]), "chars": "touch inside; touch " + out + "; exit\n", "yield_time_ms": 5000,
					}}
				},
			}})
			_, err := os.Stat(out)
			if inside, outside := s.has("inside"), err == nil; inside != tt.inside || outside != tt.outside {
				t.Errorf("a file in the project: %v, in the home: %v", inside, outside)
			}
			if tt.answer == "" {
				return
			}
			hooktest.Until(t, "the plain line is on record", func() bool {
				list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Text: "bash", Limit: 9})
				hooktest.Must(t, err)
				return slices.ContainsFunc(list, func(d client.Decision) bool {
					return d.Subject == "bash" && (d.Contained == "project") == tt.inside
				})
			})
		})
	}
}
