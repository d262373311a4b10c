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

// The reason of an overruled decision is no reason of a denial: the model would mend the wrong thing.
func TestWhyDenied(t *testing.T) {
	c := row(t, "pre_tool_use")
	for _, tt := range []struct {
		name  string
		hooks []hooked
		want  string
	}{
		{"a reason", []hooked{permission("a", "ask", "sure?"), exits("b", 2, "no", "")}, "no"},
		{"none, and another asks", []hooked{permission("a", "ask", "sure?"), exits("b", 2, "", "")}, "denied by b, without a reason"},
		{"none", []hooked{permission("a", "deny", ""), exits("b", 2, "", "")}, "denied by a, b, without a reason"},
		{"another denies", []hooked{permission("a", "deny", "never"), exits("b", 2, "", "")}, "never"},
	} {
		if got := WhyDenied(decide(c, tt.hooks...)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
