package amp

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Amp's own plugins answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "action", Means: "permission_decision", Says: "allow= modify= continue= reject-and-continue=deny error=deny synthesize="},
		{Key: "message", Means: "permission_decision_reason"}, {Key: "message", Means: "reason"},
		{Key: "input", Means: "updated_input", Events: "tool.call"},
		{Key: "output", Means: "updated_tool_response", Events: "tool.result"},
	}
}
