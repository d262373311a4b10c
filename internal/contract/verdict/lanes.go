package verdict

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Then returns the verdict on an event whose hooks ran in two lanes: v first, next
// after it. The stricter decision wins, texts are joined in that order, of a field that
// both set the later counts. Neither is changed.
func Then(v, next *Verdict) *Verdict {
	out := *next
	out.Allowed = v.Allowed && next.Allowed
	out.Continue = v.Continue && next.Continue
	if rank(v.PermissionDecision) >= rank(next.PermissionDecision) {
		out.PermissionDecision, out.DecisionReason = v.PermissionDecision, v.DecisionReason
	}
	out.Contain = Unique(slices.Concat(v.Contain, next.Contain))
	out.Message = join(v.Message, next.Message)
	out.SystemMessage = join(v.SystemMessage, next.SystemMessage)
	out.AdditionalContext = join(v.AdditionalContext, next.AdditionalContext)
	out.PermissionAllowed = v.PermissionAllowed || next.PermissionAllowed
	out.StopReason = cmp.Or(v.StopReason, next.StopReason)
	out.Summary = cmp.Or(v.Summary, next.Summary)
	out.Skip = v.Skip || next.Skip
	out.UpdatedInput = later(v.UpdatedInput, next.UpdatedInput)
	out.UpdatedToolResponse = later(v.UpdatedToolResponse, next.UpdatedToolResponse)
	out.UpdatedMessages = later(v.UpdatedMessages, next.UpdatedMessages)
	if out.ExitCode == 0 {
		out.ExitCode, out.Stderr = v.ExitCode, v.Stderr
	}
	if len(v.Metadata) > 0 {
		out.Metadata = maps.Clone(v.Metadata)
		maps.Copy(out.Metadata, next.Metadata)
	}
	out.Specific = specificOfBoth(v.Specific, next.Specific)
	dropDefer(&out)
	out.SuppressOutput = v.SuppressOutput || next.SuppressOutput
	out.DecidedBy = decidedByBoth(v, next)
	return &out
}

func later(first, next json.RawMessage) json.RawMessage {
	if next != nil {
		return next
	}
	return first
}

// decidedByBoth names the hooks that denied, if one lane did; else every hook that
// either lane names.
func decidedByBoth(v, next *Verdict) []string {
	switch {
	case !v.Allowed && next.Allowed:
		return slices.Clone(v.DecidedBy)
	case v.Allowed && !next.Allowed:
		return slices.Clone(next.DecidedBy)
	}
	return Unique(slices.Concat(v.DecidedBy, next.DecidedBy))
}
