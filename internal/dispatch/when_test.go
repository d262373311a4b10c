package dispatch

import (
	"github.com/hookd/hookd/internal/facts"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// A hook before a guard rewrites a call to one which the condition of the guard fits. The
// guard sees that call, and only that.
func TestConditionsHoldForWhatWasRewritten(t *testing.T) {
	command, err := facts.ParsePattern("git push")
	if err != nil {
		t.Fatal(err)
	}
	for rewrite, want := range map[string]struct {
		ran     []string
		allowed bool
	}{
		`{"hook_specific_output":{"updated_input":{"cmd":"git push"}}}`: {[]string{"rewrites", "guard"}, false},
		`{"hook_specific_output":{"updated_input":{"cmd":"git pull"}}}`: {[]string{"rewrites"}, true},
		`{}`: {[]string{"rewrites"}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			guard := matchtest.With(matchtest.Hook("guard", "pre_tool_use"), func(h *hook.Hook) {
				h.When = []hook.Condition{{Commands: []facts.CommandPattern{command}}}
			})
			b := newBench(t, Options{}, []*hook.Hook{guard, matchtest.Hook("rewrites", "pre_tool_use"), matchtest.With(guard, func(*hook.Hook) {})},
				map[string]behaviour{"rewrites": {stdout: rewrite}, "guard": {exit: 2}})
			r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`)
			var ran []string
			for _, run := range r.Runs {
				ran = append(ran, run.Hook)
			}
			if !slices.Equal(ran, want.ran) || r.Verdict.Allowed != want.allowed || !slices.Equal(r.Matched, []string{"rewrites"}) {
				t.Errorf("%s: ran %v, allowed %v, matched %v; want %+v", rewrite, ran, r.Verdict.Allowed, r.Matched, want)
			}
		})
	}
}

// An event that no hook's conditions fit is decided by none, and leaves no decision.
func TestNoConditionFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		command, _ := facts.ParsePattern("git push")
		guard := matchtest.With(matchtest.Hook("guard", "pre_tool_use"), func(h *hook.Hook) {
			h.When = []hook.Condition{{Commands: []facts.CommandPattern{command}}}
		})
		b := newBench(t, Options{}, []*hook.Hook{guard}, map[string]behaviour{"guard": {exit: 2}})
		r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`)
		if !r.Verdict.Allowed || len(r.Matched) > 0 || len(r.Runs) > 0 || len(b.fake.ran) > 0 || len(b.tape.decided) > 0 {
			t.Errorf("got %+v, decided %v", r, b.tape.decided)
		}
		for _, line := range []string{"git -C x push", "sudo git push", "$X"} {
			data := `{"tool_name":"shell","tool_input":{"cmd":"` + line + `"}}`
			r, err := b.Emit(Origin{}, events.Envelope{Event: "pre_tool_use", Wait: true, Data: []byte(data)})
			if err != nil || r.Verdict.Allowed {
				t.Errorf("%s: %v, %v", line, r.Verdict, err)
			}
		}
	})
}
