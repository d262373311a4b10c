package dispatch

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// A person is asked about a call with bytes that are no UTF-8: no guard has seen the call that runs.
func TestBytesThatAreNoTextAreDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), matchtest.Hook("log", "agent:end")}
		b := newBench(t, Options{}, hooks, nil)
		for text, want := range map[string]string{
			`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"cmd":"ls"}}}`:      "",
			"{\"event\":\"pre_tool_use\",\"wait\":true,\"data\":{\"tool_input\":{\"cmd\":\"rm /tmp/x\xff\"}}}": "ask",
		} {
			v := b.emit(t, text).Verdict
			if v.PermissionDecision != want || want != "" && !strings.Contains(v.DecisionReason, "no UTF-8") {
				t.Errorf("%q: %q, %s", text, v.PermissionDecision, v.DecisionReason)
			}
		}
	})
}
