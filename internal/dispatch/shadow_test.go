package dispatch

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

func inShadow(h *hook.Hook) { h.Shadow = true }

const shellCall = `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`

// A hook in the shadow decides nothing and is not waited for: the decision that it would
// have made is on the real decision, once it has said so.
func TestShadow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		guard behaviour // of the hook that counts; "" = there is none
		watch behaviour
		given wire.Outcome // the decision
		would []wire.Shadowed
	}{
		{"denies", behaviour{}, behaviour{exit: 2, takes: time.Second}, wire.OutcomeNone,
			[]wire.Shadowed{{Hook: "watch", Decision: wire.OutcomeDeny}}},
		{"asks", behaviour{}, behaviour{stdout: `{"hook_specific_output":{"permission_decision":"ask","permission_decision_reason":"sure?"}}`},
			wire.OutcomeNone, []wire.Shadowed{{Hook: "watch", Decision: wire.OutcomeAsk, Reason: "sure?"}}},
		{"rewrites", behaviour{}, behaviour{stdout: `{"hook_specific_output":{"updated_input":{"cmd":"pwd"}}}`},
			wire.OutcomeNone, []wire.Shadowed{{Hook: "watch", Decision: wire.OutcomeNone, Rewrote: []string{"input"}}}},
		{"silent", behaviour{}, behaviour{}, wire.OutcomeNone, nil},
		{"beside_a_denial", behaviour{exit: 2}, behaviour{exit: 2}, wire.OutcomeDeny,
			[]wire.Shadowed{{Hook: "watch", Decision: wire.OutcomeDeny}}},
		{"fails", behaviour{}, behaviour{exit: 3}, wire.OutcomeNone,
			[]wire.Shadowed{{Hook: "watch", Decision: wire.OutcomeDeny, Reason: `pre_tool_use hook failed to execute: hook "watch"`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), matchtest.With(matchtest.Hook("watch", "pre_tool_use"), inShadow)},
					map[string]behaviour{"guard": tt.guard, "watch": tt.watch})
				begun := time.Now()
				r := b.emit(t, shellCall)
				if time.Since(begun) > 0 {
					t.Errorf("the verdict took %v: it waited for the hook in the shadow", time.Since(begun))
				}
				if r.Verdict.Allowed != (tt.given != wire.OutcomeDeny) || r.Verdict.UpdatedInput != nil || len(r.Runs) != 1 {
					t.Errorf("verdict %+v, runs %v", r.Verdict, r.Runs)
				}
				b.tape.decisions(1)
				b.Drain(t.Context())
				t.Logf("%+v", b.tape.decided[0].Shadow)
				if len(b.tape.decided) != 1 {
					t.Fatalf("%d decisions are recorded", len(b.tape.decided))
				}
				d := b.tape.decided[0]
				same := func(a, b wire.Shadowed) bool {
					return a.Hook == b.Hook && a.Decision == b.Decision && strings.HasPrefix(a.Reason, b.Reason) && slices.Equal(a.Rewrote, b.Rewrote)
				}
				if d.Decision != tt.given || !slices.EqualFunc(d.Shadow, tt.would, same) || len(d.Runs) != 1 || slices.Contains(d.DecidedBy, "watch") {
					t.Errorf("got %+v", d)
				}
				run := b.tape.runs[len(b.tape.runs)-1]
				if run.Hook != "watch" || !run.Shadow || run.Awaited || run.Result == wire.ResultDeny {
					t.Errorf("the run in the shadow is recorded as %+v", run)
				}
			})
		})
	}
}

// An event that only a hook in the shadow sees is decided as none.
func TestOnlyShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.With(matchtest.Hook("watch", "pre_tool_use"), inShadow)}, map[string]behaviour{"watch": {exit: 2}})
		r := b.emit(t, shellCall)
		b.tape.decisions(1)
		b.Drain(t.Context())
		if !r.Verdict.Allowed || len(r.Runs) != 0 || !slices.Equal(r.Matched, []string{"watch"}) || len(b.tape.decided) != 1 ||
			b.tape.decided[0].Decision != wire.OutcomeNone || len(b.tape.decided[0].Shadow) != 1 {
			t.Errorf("got %+v, decided %+v", r, b.tape.decided)
		}
	})
}

// A hook in the shadow sees the rewrites of the hooks before its place, and
// nothing of those behind it.
func TestShadowSeesRewritesBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rewrite := func(cmd string) behaviour {
			return behaviour{stdout: `{"hook_specific_output":{"updated_input":{"cmd":"` + cmd + `"}}}`}
		}
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("a", "pre_tool_use"), matchtest.With(matchtest.Hook("watch", "pre_tool_use"), inShadow), matchtest.Hook("b", "pre_tool_use")},
			map[string]behaviour{"a": rewrite("first"), "b": rewrite("second")})
		b.emit(t, shellCall)
		b.tape.decisions(1)
		b.Drain(t.Context())
		var seen string
		for _, ran := range b.fake.ran {
			if strings.HasPrefix(ran, "watch ") {
				seen = ran
			}
		}
		if !strings.Contains(seen, `"cmd":"first"`) {
			t.Errorf("it saw %s", seen)
		}
	})
}

// Hooks in the shadow take no slot of the deciding hooks. A stuck one holds up only its
// own decision, until the time that it may wait is over.
func TestShadowsHaveSlotsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := matchtest.With(matchtest.Hook("slow", "pre_tool_use"), inShadow)
		b := newBench(t, Options{Decidable: 1}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), slow},
			map[string]behaviour{"slow": {takes: 4 * time.Second}})
		begun := time.Now()
		for range 20 {
			b.emit(t, shellCall)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("20 verdicts took %v", took)
		}
		b.tape.decisions(20)
		b.Drain(t.Context())
		if len(b.tape.decided) != 20 {
			t.Errorf("%d of 20 decisions are recorded", len(b.tape.decided))
		}
	})
}

// The decision on an event is recorded though a hook in the shadow is not back when hookd stops.
func TestAStuckShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newBench(t, Options{}, []*hook.Hook{matchtest.With(matchtest.Hook("watch", "pre_tool_use"), inShadow)},
			map[string]behaviour{"watch": {does: func(*Job) { <-release }}})
		time.AfterFunc(300*time.Millisecond, b.kill)
		b.emit(t, shellCall)
		decided := b.tape.decisions(1)
		if len(decided) != 1 || len(decided[0].Shadow) != 0 {
			t.Errorf("recorded %+v, want one decision, without a word of the hook that has not answered", decided)
		}
		close(release)
	})
}

// A stop waits for no run whose answer counts for nothing. Such a run is recorded as interrupted,
// and nothing is recorded of how its hook would have decided.
func TestStopEndsRunsThatDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 3)
		slow := behaviour{takes: 4 * time.Second, exit: 2, does: func(*Job) { begun <- struct{}{} }}
		b := newBench(t, Options{Decidable: 1}, []*hook.Hook{
			matchtest.With(matchtest.Hook("one", "pre_tool_use"), inShadow),
			matchtest.With(matchtest.Hook("other", "pre_tool_use"), inShadow), // which of them waits for the slot, is open
		}, map[string]behaviour{"one": slow, "other": slow, "tried": slow})
		b.emit(t, shellCall)
		refused := make(chan *wire.Error, 1)
		go func() {
			env := events.Envelope{Event: "pre_tool_use", Data: []byte(`{"tool_name":"shell"}`)}
			_, err := b.Try(context.Background(), Origin{}, matchtest.Hook("tried", "pre_tool_use"), env)
			refused <- err
		}()
		<-begun
		<-begun
		stop := time.Now()
		b.Drain(t.Context())
		if took := time.Since(stop); took > 0 {
			t.Errorf("the stop took %v", took)
		}
		if err := <-refused; err != errDraining {
			t.Errorf("the trial that was under way is answered with %v", err)
		}
		for _, r := range b.tape.runs {
			if r.Result != wire.ResultInterrupted || r.Decision != "" || r.Error != errStopped.Error() {
				t.Errorf("hook %s is recorded with result %q (%s), decision %q", r.Hook, r.Result, r.Error, r.Decision)
			}
		}
		if len(b.tape.runs) != 3 || len(b.tape.decided) != 1 || b.tape.decided[0].Shadow != nil {
			t.Errorf("%d runs, decisions %+v", len(b.tape.runs), b.tape.decided)
		}
	})
}
