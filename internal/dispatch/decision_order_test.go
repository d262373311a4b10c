package dispatch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// Decisions of a session are recorded in the order in which they were made, also when the
// first one waits for a hook in the shadow. Those of other sessions do not wait for it.
func TestDecisionsOfASessionAreRecordedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{
			matchtest.Hook("guard", "pre_tool_use", "user_prompt_submit"),
			matchtest.With(matchtest.Hook("watch", "pre_tool_use"), inShadow),
		}, map[string]behaviour{"watch": {takes: time.Second}})
		for _, line := range []string{
			`{"event":"pre_tool_use","id":"a1","session_id":"a","dialect":"docker-agent","data":{"tool_name":"shell"},"wait":true}`,
			`{"event":"user_prompt_submit","id":"a2","session_id":"a","dialect":"docker-agent","data":{"prompt":"x"},"wait":true}`,
			`{"event":"user_prompt_submit","id":"b1","session_id":"b","dialect":"docker-agent","data":{"prompt":"x"},"wait":true}`,
			`{"event":"user_prompt_submit","id":"a3","session_id":"a","dialect":"codex","data":{"prompt":"x"},"wait":true}`,
			`{"event":"user_prompt_submit","id":"n1","dialect":"docker-agent","data":{"prompt":"x"},"wait":true}`,
		} {
			begun := time.Now()
			b.emit(t, line)
			if waited := time.Since(begun); waited > 0 {
				t.Errorf("%s waited %v for its answer", line, waited)
			}
		}
		b.Drain(t.Context())
		var order []string
		for _, d := range b.tape.decided {
			order = append(order, d.SessionID+" "+d.Event+" "+string(d.Dialect))
		}
		want := []string{
			"b user_prompt_submit docker-agent", "a user_prompt_submit codex", " user_prompt_submit docker-agent",
			"a pre_tool_use docker-agent", "a user_prompt_submit docker-agent",
		}
		if !slices.Equal(order, want) {
			t.Errorf("recorded\n%q, want\n%q", order, want)
		}
		if len(b.tracker.decisions.order.last) != 0 {
			t.Errorf("%d sessions are still waited for", len(b.tracker.decisions.order.last))
		}
	})
}
