package verdict

// Asks reports whether the verdict leaves a call to a person.
func (v *Verdict) Asks() bool { return v.Allowed && v.Continue && v.PermissionDecision == "ask" }

// Approved returns a verdict that asks with the answer yes, which is a permission: the
// agent need not ask again. v is not changed.
func (v *Verdict) Approved(reason string) *Verdict {
	out := *v
	out.PermissionDecision, out.DecisionReason = "allow", reason
	out.settleDefer()
	return &out
}

// Declined returns a verdict that asks with the answer no. v is not changed.
func (v *Verdict) Declined(reason string) *Verdict {
	out := *v
	out.Allowed, out.PermissionDecision, out.DecisionReason, out.Message = false, "deny", reason, reason
	out.settleDefer()
	return &out
}

// Unanswered returns a verdict that asks, with a reason that says more. v is not
// changed.
func (v *Verdict) Unanswered(reason string) *Verdict {
	out := *v
	out.DecisionReason = reason
	return &out
}
