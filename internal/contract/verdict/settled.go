package verdict

// Approved returns a verdict that asks with the answer yes, which is a permission: the
// agent need not ask again. v is not changed.
func Approved(v *Verdict, reason string) *Verdict {
	out := *v
	out.PermissionDecision, out.DecisionReason = "allow", reason
	settleDefer(&out)
	return &out
}

// Declined returns a verdict that asks with the answer no. v is not changed.
func Declined(v *Verdict, reason string) *Verdict {
	out := *v
	out.Allowed, out.PermissionDecision, out.DecisionReason, out.Message = false, "deny", reason, reason
	settleDefer(&out)
	return &out
}

// Unanswered returns a verdict that asks, with a reason that says more. v is not
// changed.
func Unanswered(v *Verdict, reason string) *Verdict {
	out := *v
	out.DecisionReason = reason
	return &out
}
