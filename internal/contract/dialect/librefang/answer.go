package librefang

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Answer writes the new text of transform_tool_result; every other event
// observes.
func Answer(a neutral.Asked) neutral.Reply {
	row := events.LookupIn(events.LibreFang, a.Event)
	if row == nil || row.Rewrite == events.RewriteNone || a.Verdict.UpdatedToolResponse == nil {
		return neutral.Reply{}
	}
	return neutral.Reply{Stdout: neutral.ResultText(a.Verdict.UpdatedToolResponse)}
}
