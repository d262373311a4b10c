package dispatch

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// oneWay are boxes that ask to open one way for each call.
type oneWay struct {
	noBoxes
	made int
}

func (*oneWay) Cannot(*events.Event, *verdict.Verdict) string { return "" }

func (*oneWay) Opens(*events.Event, *verdict.Verdict) []string { return []string{"/home/notes"} }

func (o *oneWay) Box(_ *events.Event, v *verdict.Verdict, _ bool) *verdict.Verdict {
	o.made++
	return verdict.Boxed(v, "project", json.RawMessage(`{"command":"hookd-bridge box"}`), v.Opens)
}

// persons answer each ask so.
type persons struct {
	noAsks
	await func(v *verdict.Verdict) (*verdict.Verdict, *wire.Answered)
}

func (p persons) Takes(*Question) bool { return true }

func (p persons) Await(q *Question) (*verdict.Verdict, *wire.Answered) { return p.await(q.Verdict) }

// keepsOne keeps one file of each call.
type keepsOne struct{}

func (keepsOne) Keep(*events.Event) Keeping { return Keeping{Kept: &wire.Kept{Word: "all", Files: 1}} }
func (keepsOne) Drop(*events.Event)         {}
func (keepsOne) Note(*events.Event)         {}

// An ask about a way out of a box gets its box after a yes, or where the agent asks a person itself. Without
// a yes it gets no other input: neither the agent nor the record has one. A denied call has nothing to take back.
func TestAsksAboutABoxEnd(t *testing.T) {
	yes := func(v *verdict.Verdict) (*verdict.Verdict, *wire.Answered) {
		return verdict.Approved(v, "yes"), &wire.Answered{By: wire.ByPerson, Answer: wire.OutcomeAllow}
	}
	no := func(v *verdict.Verdict) (*verdict.Verdict, *wire.Answered) {
		return verdict.Declined(v, "no"), &wire.Answered{By: wire.ByPerson, Answer: wire.OutcomeDeny}
	}
	none := func(v *verdict.Verdict) (*verdict.Verdict, *wire.Answered) {
		return verdict.Unanswered(v, "late"), &wire.Answered{By: wire.ByTimeout}
	}
	for _, tt := range []struct {
		name, dialect, alone string
		await                func(*verdict.Verdict) (*verdict.Verdict, *wire.Answered)
		told                 wire.Outcome // by the bridge, as its agent's protocol has it
		is                   wire.Outcome
		boxed                bool
	}{
		{"yes", "claude-code", `,"unasked":true`, yes, wire.OutcomeAllow, wire.OutcomeContain, true},
		{"no", "claude-code", `,"unasked":true`, no, wire.OutcomeDeny, wire.OutcomeDeny, false},
		{"none, alone", "claude-code", `,"unasked":true`, none, wire.OutcomeDeny, wire.OutcomeDeny, false},
		{"none, with a person", "claude-code", "", none, wire.OutcomeAsk, wire.OutcomeAsk, true},
		{"none, an agent that cannot ask", "codex", "", none, wire.OutcomeDeny, wire.OutcomeDeny, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				boxes := &oneWay{}
				guard := matchtest.With(matchtest.Hook("guard", "PreToolUse"), func(h *hook.Hook) { h.Blocking = new(true) })
				b := newBench(t, Options{Boxes: boxes, Asks: persons{await: tt.await}, Keeper: keepsOne{}}, []*hook.Hook{guard},
					map[string]behaviour{"guard": {stdout: `{"decision":"contain","profile":"project","reason":"unknown"}`}})
				env, err := events.Parse([]byte(`{"event":"PreToolUse","dialect":"` + tt.dialect + `"` + tt.alone +
					`,"wait":true,"data":{"session_id":"s","tool_use_id":"c","tool_name":"Bash","tool_input":{"command":"x"}}}`))
				if err != nil {
					t.Fatal(err)
				}
				env.Hearing = events.NewHearing()
				r, refused := b.Emit(Origin{}, env)
				if refused != nil {
					t.Fatal(refused)
				}
				rewritten := r.Verdict.UpdatedInput != nil
				if rewritten != tt.boxed || boxes.made > 0 != tt.boxed || r.Verdict.Asks() != (tt.is == wire.OutcomeAsk) {
					t.Errorf("%d boxes were made, the verdict is %+v", boxes.made, *r.Verdict)
				}
				env.Hearing.Say(wire.Told{Decision: tt.told, Rewrote: rewritten})
				synctest.Wait()
				d := b.tape.decisions(1)[0]
				if (d.Kept == nil) != (tt.is == wire.OutcomeDeny) {
					t.Errorf("on record is kept: %+v", d.Kept)
				}
				if boxed := d.Contained != ""; d.Decision != tt.is || boxed != tt.boxed || d.Told.Rewrote != tt.boxed ||
					len(d.Opened) > 0 != tt.boxed {
					t.Errorf("on record it is %s in %q, open %q, told %+v", d.Decision, d.Contained, d.Opened, d.Told)
				}
			})
		})
	}
}

// The plugin of an agent does not say what its agent was told. Where no person is asked, an ask is a denial.
func TestAnAskOfAPluginWithoutAPerson(t *testing.T) {
	for member, want := range map[string]wire.Outcome{"": wire.OutcomeAsk, `,"unasked":true`: wire.OutcomeDeny} {
		synctest.Test(t, func(t *testing.T) {
			guard := matchtest.With(matchtest.Hook("guard", "*"), func(h *hook.Hook) { h.Blocking = new(true) })
			b := newBench(t, Options{}, []*hook.Hook{guard},
				map[string]behaviour{"guard": {stdout: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"why"}}`}})
			r := b.emit(t, `{"event":"tool.execute.before","dialect":"opencode"`+member+
				`,"wait":true,"data":{"session_id":"s","tool":"bash","callID":"c","args":{"command":"x"}}}`)
			d := b.tape.decisions(1)[0]
			if !r.Verdict.Asks() || d.Decision != want || (d.Told != nil) != (want == wire.OutcomeDeny) {
				t.Errorf("%q: the verdict is %+v, on record %s, told %+v", member, *r.Verdict, d.Decision, d.Told)
			}
		})
	}
}

// fates is a Past that is given the outcome of each event.
type fates struct {
	noPast
	got chan wire.Outcome
}

func (f fates) Looks(*events.Contract) bool { return true }

func (f fates) Begin(*events.Event, bool) func(wire.Outcome) {
	return func(o wire.Outcome) { f.got <- o }
}

// Whether a call counts that its agent cannot ask about, hooks that look back hear from its bridge.
func TestTheBridgeSaysTheFateOfAnAsk(t *testing.T) {
	for _, told := range []wire.Outcome{wire.OutcomeDeny, wire.OutcomeAsk} {
		synctest.Test(t, func(t *testing.T) {
			past := fates{got: make(chan wire.Outcome, 2)}
			guard := matchtest.With(matchtest.Hook("guard", "PreToolUse"), func(h *hook.Hook) { h.Blocking = new(true) })
			b := newBench(t, Options{Past: past}, []*hook.Hook{guard}, map[string]behaviour{
				"guard": {stdout: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"why"}}`},
			})
			env, err := events.Parse([]byte(`{"event":"PreToolUse","dialect":"codex","wait":true,"data":` +
				`{"session_id":"s","tool_use_id":"c","tool_name":"Bash","tool_input":{"command":"x"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			env.Hearing = events.NewHearing()
			if r, refused := b.Emit(Origin{}, env); refused != nil || !r.Verdict.Asks() || len(past.got) != 0 {
				t.Fatal(r.Verdict, refused, "before the bridge said so")
			}
			env.Hearing.Say(wire.Told{Decision: told})
			synctest.Wait()
			if len(past.got) != 1 || <-past.got != told {
				t.Errorf("its fate is not %q", told)
			}
		})
	}
}
