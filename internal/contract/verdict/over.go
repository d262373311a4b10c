package verdict

import (
	"encoding/json"
	"maps"
)

// systemPrefix begins the names of the system daemon's hooks in a verdict of both.
const systemPrefix = "system:"

// Over returns the verdict of two daemons, where v is the system's and lower the user's
// own: lower can only tighten v. The stricter decision wins, texts are joined; a
// result, messages, a summary and metadata that v has set stay; and a permission counts
// only where v left that open. A new input of lower counts: the caller has asked the
// system daemon about it again, and v is its verdict. Neither is changed.
func Over(v, lower *Verdict) *Verdict {
	first := *v
	first.DecidedBy = nil
	for _, name := range v.DecidedBy {
		first.DecidedBy = append(first.DecidedBy, systemPrefix+name)
	}
	out := Then(&first, lower)
	keep := func(upper, both json.RawMessage) json.RawMessage {
		if upper != nil {
			return upper
		}
		return both
	}
	out.UpdatedInput = keep(v.UpdatedInput, out.UpdatedInput)
	out.UpdatedToolResponse = keep(v.UpdatedToolResponse, out.UpdatedToolResponse)
	out.UpdatedMessages = keep(v.UpdatedMessages, out.UpdatedMessages)
	out.PermissionAllowed = v.PermissionAllowed || lower.PermissionAllowed && v.PermissionDecision == ""
	out.SuppressOutput = v.SuppressOutput || lower.SuppressOutput && v.SystemMessage == ""
	if len(v.Metadata) > 0 {
		out.Metadata = maps.Clone(lower.Metadata)
		if out.Metadata == nil {
			out.Metadata = map[string]string{}
		}
		maps.Copy(out.Metadata, v.Metadata)
	}
	return out
}
