package pi

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Pi's own extensions answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "block", Means: "decision", Says: "true=block false="},
		{Key: "input", Means: "updated_input", Events: "tool_call"},
		{Key: "content", Means: "updated_tool_response", Events: "tool_result", Texts: "text"},
		{Key: "action", Means: "decision", Says: "handled=block continue="},
		{Key: "cancel", Means: "decision", Says: "true=block false="},
	}
}
