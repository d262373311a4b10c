package opencode

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which OpenCode's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "args", Means: "updated_input"}, {Key: "output.args", Means: "updated_input"},
		{Key: "output", Means: "updated_tool_response", Events: "tool.execute.after"},
		{Key: "status", Means: "permission_decision", Says: "allow=allow ask=ask deny=deny"},
	}
}
