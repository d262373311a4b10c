package dispatch

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// A person is asked about a call that programs read in different ways: the guards may not have seen
// the call that runs.
func TestUnclearCallsAreDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), matchtest.Hook("log", "agent:end")}
		b := newBench(t, Options{}, hooks, nil)
		for data, want := range map[string]string{
			`{"tool_name":"shell","tool_input":{"cmd":"ls"}}`:                       "",
			`{"tool_input":{"cmd":"echo \ud83d\ude00"}}`:                            "",
			`{"tool_input":{"cmd":"ls"}},"data":{"tool_input":{"cmd":"ls"}}`:        "",
			"{\"tool_input\":{\"cmd\":\"rm /tmp/x\xff\"}}":                          "no UTF-8",
			"{\"tool_input\":{\"cmd\":\"rm \xc0\xaf\"}}":                            "no UTF-8", // overlong
			"{\"tool_input\":{\"cmd\":\"rm \xed\xa0\x80\"}}":                        "no UTF-8", // half a pair
			`{"tool_input":{"path":"/tmp/\ud800"}}`:                                 `half a character (\ud800)`,
			`{"tool_input":{"cmd":"ls","cmd":"rm x"}}`:                              `"cmd" twice`,
			`{"tool_input":{"cmd":"ls","\u0043MD":"rm x"}}`:                         `"CMD" twice`,
			`{"tool_input":{"cmd":"rm x"}},"data":{"tool_input":{"cmd":"ls"}}`:      "data twice",
			`{"tool_input":{"cmd":"rm x"}},"\u0064ata":{"tool_input":{"cmd":"ls"}}`: "data twice",
		} {
			v := b.emit(t, `{"event":"pre_tool_use","wait":true,"data":`+data+`}`).Verdict
			if asked := v.PermissionDecision == "ask"; asked != (want != "") || !strings.Contains(v.DecisionReason, want) {
				t.Errorf("%q: %q, %s; want %q", data, v.PermissionDecision, v.DecisionReason, want)
			}
		}
	})
}
