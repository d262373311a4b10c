package openclaw

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "sessionKey", Fact: neutral.Session},
			{Field: "runId", Fact: neutral.Turn},
			{Field: "workspaceDir", Fact: neutral.Cwd},
			{Field: "agentId", Fact: neutral.AgentName},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "params", Fact: neutral.Input},
			{Field: "toolCallId", Fact: neutral.Call},
			{Field: "result", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "error", Fact: neutral.ErrorText},
			{Field: "durationMs", Fact: neutral.Took},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "reason", Fact: neutral.Reason, Events: "session_end before_reset"},
		},
		Tools: tools, Others: others, MCPJoin: "__",
	}
}
