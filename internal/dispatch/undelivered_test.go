package dispatch

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// The lost part of an answer is in the record of the run and in the log; the part that
// the lane of the hook takes is not.
func TestALostPartOfAnAnswerIsOnRecord(t *testing.T) {
	for _, tt := range []struct{ name, dialect, event, lane, answer, want string }{
		{"the agent", "codex", "PreToolUse", "", `{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}`, "updated_input was ignored: codex"},
		{"the event", "docker-agent", "pre_tool_use", "", `{"hook_specific_output":{"metadata":{"risk":"high"}}}`, "metadata was ignored: pre_tool_use"},
		{"the lane takes it", "docker-agent", "pre_tool_use", events.LanePreempt, `{"hook_specific_output":{"permission_decision":"ask","metadata":{"risk":"high"}}}`, ""},
		{"delivered", "claude-code", "PreToolUse", "", `{"systemMessage":"m","hookSpecificOutput":{"updatedInput":{"command":"ls"}}}`, ""},
		{"a denial", "kimi", "PreToolUse", "", `{"decision":"block","reason":"no","systemMessage":"m"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := matchtest.With(matchtest.Hook("h", tt.event), func(h *hook.Hook) { h.Lane = tt.lane })
				b := newBench(t, Options{}, []*hook.Hook{h}, map[string]behaviour{"h": {stdout: tt.answer}})
				b.emit(t, `{"event":"`+tt.event+`","dialect":"`+tt.dialect+`","data":{"tool_name":"Bash","tool_input":{"command":"rm"}},"wait":true}`)
				b.tape.wait("h", 1)
				got := b.tape.runs[0].Warning
				logged := b.logs.FilterMessage("hook answered oddly").Len()
				if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") || (logged == 0) != (tt.want == "") {
					t.Errorf("the record says %q, want %q; the log has %d lines", got, tt.want, logged)
				}
			})
		})
	}
}
