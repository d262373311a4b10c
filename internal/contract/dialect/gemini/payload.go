package gemini

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_call_id", Fact: neutral.Call},
			{Field: "mcp_context.server_name", Fact: neutral.MCPServer},
			{Field: "mcp_context.tool_name", Fact: neutral.MCPTool},
			{Field: "tool_response.error", Fact: neutral.ErrorText},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "llm_request.model", Fact: neutral.Model},
			{Field: "llm_request.messages", Fact: neutral.Messages},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "prompt_response", Fact: neutral.Answer},
			{Field: "llm_response.text", Fact: neutral.Answer},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "message", Fact: neutral.Text},
		},
		Tools:  tools,
		Others: others,
	}
}
