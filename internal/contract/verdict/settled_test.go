package verdict_test

import (
	"testing"

	. "github.com/hookd/hookd/internal/contract/verdict"
)

// An answer to an ask makes another verdict, and leaves the verdict that asked as it
// was.
func TestAnswersOfAPerson(t *testing.T) {
	asks := &Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "sure?"}
	if !asks.Asks() {
		t.Fatal("it does not ask")
	}
	if v := Approved(asks, "yes"); v.Asks() || !v.Allowed || v.PermissionDecision != "allow" || v.DecisionReason != "yes" {
		t.Errorf("approved: %+v", v)
	}
	if v := Declined(asks, "no"); v.Asks() || v.Allowed || v.PermissionDecision != "deny" || v.Message != "no" {
		t.Errorf("declined: %+v", v)
	}
	if v := Unanswered(asks, "the time is over"); !v.Asks() || v.DecisionReason != "the time is over" {
		t.Errorf("unanswered: %+v", v)
	}
	if !asks.Asks() || asks.DecisionReason != "sure?" {
		t.Errorf("the question is now %+v", asks)
	}
	for name, v := range map[string]*Verdict{
		"denied":  {Continue: true, PermissionDecision: "ask"},
		"stopped": {Allowed: true, PermissionDecision: "ask"},
		"allowed": {Allowed: true, Continue: true, PermissionDecision: "allow"},
	} {
		if v.Asks() {
			t.Errorf("%s asks", name)
		}
	}
}
