package copilot

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "toolArgs", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "toolResult.textResultForLlm", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "initialPrompt", Fact: neutral.Prompt},
			{Field: "transcriptPath", Fact: neutral.Transcript},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "agentId", Fact: neutral.AgentID},
			{Field: "agentType", Fact: neutral.AgentType},
			{Field: "agentName", Fact: neutral.AgentName},
			{Field: "response", Fact: neutral.Answer},
			{Field: "error", Fact: neutral.ErrorText, Events: "postToolUseFailure"},
			{Field: "error.message", Fact: neutral.ErrorText, Events: "errorOccurred"},
			{Field: "errorContext", Fact: neutral.ErrorType},
			{Field: "recoverable", Fact: neutral.Recoverable},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "customInstructions", Fact: neutral.Instructions},
			{Field: "message", Fact: neutral.Text},
			{Field: "title", Fact: neutral.Title},
			{Field: "notification_type", Fact: neutral.NoticeType},
		},
		Fixed: []neutral.Fixed{{Events: "postToolUseFailure errorOccurred", Fact: neutral.Failed, Value: "true"}},
		Tools: tools, Others: others,
	}
}

// normal reads toolArgs that came as JSON text.
func normal(_ string, payload json.RawMessage) json.RawMessage {
	text, ok := rawjson.GetString(payload, "toolArgs")
	if args := json.RawMessage(text); ok && json.Valid(args) {
		return rawjson.With(payload, rawjson.Member{Key: "toolArgs", Value: args})
	}
	return payload
}
