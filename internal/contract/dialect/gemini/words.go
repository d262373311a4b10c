package gemini

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Gemini CLI's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "decision", Means: "permission_decision", Says: "ask=ask"},
		{Key: "hook_specific_output.tool_input", Means: "updated_input"},
		{Key: "hook_specific_output.tail_tool_call_request"}, {Key: "hook_specific_output.clear_context"},
		{Key: "hook_specific_output.llm_request"}, {Key: "hook_specific_output.llm_response"}, {Key: "hook_specific_output.tool_config"},
	}
}
