package dockeragent

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Payload returns data as docker-agent writes it for its hooks: a field that
// is false, 0, "", null, [] or {} is absent. The exception is cost, where a
// priced zero means something.
func Payload(data json.RawMessage) json.RawMessage {
	var kept []rawjson.Member
	dropped := false
	for key, value := range rawjson.Members(data) {
		if empty(key, value) {
			dropped = true
			continue
		}
		kept = append(kept, rawjson.Member{Key: key, Value: value})
	}
	if !dropped {
		return data
	}
	return rawjson.With(json.RawMessage("{}"), kept...)
}

func empty(key string, value json.RawMessage) bool {
	switch string(value) {
	case "null":
		return true
	case `""`, "false", "{}", "[]", "0", "0.0":
		return key != "cost"
	}
	return false
}

// Table says which fields of docker-agent's payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "parent_session_id", Fact: neutral.ParentSession},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "agent_name", Fact: neutral.AgentName},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "tool_error", Fact: neutral.Failed},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "last_user_message", Fact: neutral.Prompt},
			{Field: "stop_response", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source, Events: "session_start"},
			{Field: "source", Fact: neutral.Trigger, Events: "pre_compact"},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "notification_message", Fact: neutral.ErrorText, Events: "on_error"},
			{Field: "notification_message", Fact: neutral.Text},
			{Field: "summary", Fact: neutral.Summary},
			{Field: "messages", Fact: neutral.Messages},
			{Field: "model_id", Fact: neutral.Model},
		},
		Fixed: []neutral.Fixed{{Events: "on_error", Fact: neutral.Failed, Value: "true"}},
		Tools: tools,
	}
}
