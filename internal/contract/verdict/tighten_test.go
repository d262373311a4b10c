package verdict_test

import (
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// answers are all that a hook can say, each alone and everything at once.
var answerTexts = []struct{ name, stdout string }{
	{"nothing", ``},
	{"no opinion", `{}`},
	{"allow", `{"hook_specific_output":{"permission_decision":"allow","permission_decision_reason":"fine"}}`},
	{"approve", `{"decision":"approve"}`},
	{"ask", `{"hook_specific_output":{"permission_decision":"ask","permission_decision_reason":"sure?"}}`},
	{"deny", `{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"no"}}`},
	{"block", `{"decision":"block","reason":"no"}`},
	{"stop", `{"continue":false,"stop_reason":"enough"}`},
	{"context", `{"hook_specific_output":{"additional_context":"know this"}}`},
	{"message", `{"system_message":"hello"}`},
	{"hide", `{"suppress_output":true}`},
	{"input", `{"hook_specific_output":{"updated_input":{"command":"other"}}}`},
	{"result", `{"hook_specific_output":{"updated_tool_response":"other"}}`},
	{"result of LibreFang", `{"tool_output":"other"}`},
	{"messages", `{"hook_specific_output":{"updated_messages":[{"role":"user"}]}}`},
	{"summary", `{"hook_specific_output":{"summary":"short"}}`},
	{"metadata", `{"hook_specific_output":{"metadata":{"k":"v"}}}`},
	{"text", `some text`},
	{"nonsense", `{"decision":"maybe"}`},
	{"everything", `{"continue":true,"suppress_output":true,"system_message":"m","hook_specific_output":{
		"permission_decision":"allow","additional_context":"c","updated_input":{"command":"o"},"summary":"s",
		"updated_messages":[{"role":"user"}],"updated_tool_response":"o","metadata":{"k":"v"}}}`},
}

// A hook that may only tighten changes no verdict for the looser: on every event
// of every dialect, with each answer and exit code, after each answer of a hook of
// the user's.
func TestTightenOnly(t *testing.T) {
	data := json.RawMessage(`{"tool_name":"shell","tool_input":{"command":"ls"},"tool_output":"x","messages":[]}`)
	denied := 0
	for _, c := range events.All() {
		if !c.Decidable {
			continue
		}
		type answer struct {
			name     string
			a, tight Answer
		}
		var answers []answer
		for _, text := range answerTexts {
			for _, exit := range []int{0, 1, 2} {
				p := Terms{Name: "project:x", Blocking: true, TightenOnly: true}
				a := Read(c, p, Output{ExitCode: exit, Stdout: []byte(text.stdout)})
				tight := a.Tightened()
				if tight.Replaces(c) || string(tight.Rewrite(c, data)) != string(data) {
					t.Errorf("%s %s: %s rewrites", c.Dialect, c.Name, text.name)
				}
				answers = append(answers, answer{text.name, a, tight})
			}
		}
		for _, own := range answerTexts {
			user := Read(c, Terms{Name: "own", Blocking: true}, Output{Stdout: []byte(own.stdout)})
			alone := Fold(c, data, []Answer{user})
			for _, one := range answers {
				both := Fold(c, data, []Answer{user, one.a})
				if !reflect.DeepEqual(both, Fold(c, data, []Answer{user, one.tight})) {
					t.Errorf("%s %s: the fold does not tighten itself", c.Dialect, c.Name)
				}
				loosened(t, c, own.name+" then "+one.name, alone, both)
				if alone.Allowed && !both.Allowed {
					denied++
				}
			}
		}
	}
	if denied == 0 {
		t.Error("it denies nothing at all")
	}
}

// loosened fails if the second verdict allows more than the first, or hands on parts
// that a project's hook may not.
func loosened(t *testing.T, c *events.Contract, what string, alone, both *Verdict) {
	t.Helper()
	same := *both
	same.Allowed, same.Continue = alone.Allowed, alone.Continue
	same.Message, same.SystemMessage = alone.Message, alone.SystemMessage
	same.AdditionalContext, same.StopReason, same.DecidedBy = alone.AdditionalContext, alone.StopReason, alone.DecidedBy
	same.ExitCode, same.Stderr = alone.ExitCode, alone.Stderr
	if ranks[both.PermissionDecision] > ranks[alone.PermissionDecision] && both.PermissionDecision != "allow" {
		same.PermissionDecision, same.DecisionReason = alone.PermissionDecision, alone.DecisionReason
	}
	if !reflect.DeepEqual(&same, alone) {
		t.Errorf("%s %s, %s: %+v became %+v", c.Dialect, c.Name, what, alone, both)
	}
	if both.Allowed && !alone.Allowed || both.Continue && !alone.Continue {
		t.Errorf("%s %s, %s: it allows what was denied", c.Dialect, c.Name, what)
	}
}

// A dropped part is in a warning, once.
func TestTightenedWarns(t *testing.T) {
	c := events.Lookup("pre_tool_use")
	a := Read(c, Terms{Blocking: true, TightenOnly: true}, Output{Stdout: []byte(
		`{"hook_specific_output":{"permission_decision":"allow","updated_input":{"a":1}}}`)}).Tightened()
	const want = "permission_decision allow, updated_input was ignored: " +
		"a hook of this layer may only deny, ask or add context"
	if a.Warning != want || a.Tightened().Warning != want {
		t.Errorf("warned %q", a.Warning)
	}
	free := Read(c, Terms{Blocking: true}, Output{Stdout: []byte(
		`{"hook_specific_output":{"permission_decision":"allow"}}`)})
	if got := free.Tightened(); got.PermissionDecision != "allow" || got.Warning != "" {
		t.Errorf("a hook of the user's became %+v", got)
	}
}
