package dockeragent

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Answer writes the answer that docker-agent reads: a denial is a block with exit code
// 2.
func Answer(a neutral.Asked) neutral.Reply {
	row := events.LookupIn(events.DockerAgent, a.Event)
	if row == nil {
		return neutral.Reply{}
	}
	var top []rawjson.Member
	if !a.Verdict.Continue {
		reason := a.StopReason()
		top = append(top, neutral.Bool("continue", false), neutral.Str("stop_reason", reason))
	}
	if a.Denies() {
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	}
	if a.Verdict.SuppressOutput {
		top = append(top, neutral.Bool("suppress_output", true))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("system_message", a.Verdict.SystemMessage))
	}
	if inner := specific(a); len(inner) > 0 {
		inner = append([]rawjson.Member{neutral.Str("hook_event_name", a.Event)}, inner...)
		top = append(top, neutral.Member("hook_specific_output", inner...))
	}
	reply := neutral.Say("", top...)
	if a.Denies() {
		reply.Stderr, reply.Exit = a.Reason(), 2
	}
	return reply
}

// specific is the inside of hook_specific_output: the fields that the verdict holds.
func specific(a neutral.Asked) (inner []rawjson.Member) {
	v := a.Verdict
	switch {
	case a.Denies():
	case a.Asks():
		inner = append(inner, neutral.Str("permission_decision", "ask"),
			neutral.Str("permission_decision_reason", a.Reason()))
	case a.Allows():
		inner = append(inner, neutral.Str("permission_decision", "allow"))
		if v.DecisionReason != "" {
			inner = append(inner, neutral.Str("permission_decision_reason", v.DecisionReason))
		}
	}
	if v.UpdatedInput != nil {
		inner = append(inner, neutral.Raw("updated_input", v.UpdatedInput))
	}
	if v.UpdatedToolResponse != nil {
		inner = append(inner, neutral.Raw("updated_tool_response", v.UpdatedToolResponse))
	}
	if v.UpdatedMessages != nil {
		inner = append(inner, neutral.Raw("updated_messages", v.UpdatedMessages))
	}
	if v.AdditionalContext != "" {
		inner = append(inner, neutral.Str("additional_context", v.AdditionalContext))
	}
	if v.Summary != "" {
		inner = append(inner, neutral.Str("summary", v.Summary))
	}
	if len(v.Metadata) > 0 {
		metadata, _ := json.Marshal(v.Metadata) // texts
		inner = append(inner, neutral.Raw("metadata", metadata))
	}
	return inner
}
