package verdict

import "encoding/json"

// Approved returns a verdict that asks with the answer yes, which is a permission: the
// agent need not ask again. v is not changed.
func Approved(v *Verdict, reason string) *Verdict {
	out := *v
	out.PermissionDecision, out.DecisionReason = "allow", reason
	dropDefer(&out)
	return &out
}

// Declined returns a verdict that asks with the answer no. v is not changed.
func Declined(v *Verdict, reason string) *Verdict {
	out := *v
	out.Allowed, out.PermissionDecision, out.DecisionReason, out.Message = false, "deny", reason, reason
	dropDefer(&out)
	return &out
}

// Asked returns a verdict that lets a call pass with a question instead. v is not changed.
func Asked(v *Verdict, reason string) *Verdict {
	out := *v
	out.PermissionDecision, out.DecisionReason, out.PermissionAllowed = "ask", reason, false
	return &out
}

// Unanswered returns a verdict that asks, with a reason that says more. v is not
// changed.
func Unanswered(v *Verdict, reason string) *Verdict {
	out := *v
	out.DecisionReason = reason
	return &out
}

// Uncontained returns a verdict that contains a call as a verdict that asks about the call, and
// why it is no box. v is not changed.
func Uncontained(v *Verdict, why string) *Verdict {
	out := *v
	out.Contain = nil
	if out.PermissionDecision == wordContain {
		out.PermissionDecision = "ask"
	}
	out.DecisionReason = Because(v.DecisionReason, why)
	return &out
}

// Because adds to a hook's reason why a call is asked about.
func Because(reason, why string) string {
	if reason == "" {
		return why
	}
	return reason + "; " + why
}

// Opening returns a verdict that contains a call as a verdict that asks whether ways out of the box may
// be open, and why. v is not changed.
func Opening(v *Verdict, ways []string, why string) *Verdict {
	out := *v
	out.PermissionDecision, out.Opens = "ask", ways
	out.DecisionReason = Because(v.DecisionReason, why)
	return &out
}

// Boxed changes the input of a call so that it runs in the box of a profile, with these ways out open. v is
// not changed.
func Boxed(v *Verdict, profile string, change json.RawMessage, ways []string) *Verdict {
	out := *v
	out.Contain, out.UpdatedInput, out.Opens = []string{profile}, change, ways
	if out.PermissionDecision == wordContain {
		out.PermissionDecision = "allow"
	}
	return &out
}
