package neutral

import (
	"cmp"
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// Words that agents read a decision in, and the members that have it, its reason and another input.
var (
	heardWords = map[string]wire.Outcome{
		"deny": wire.OutcomeDeny, "block": wire.OutcomeDeny,
		"decline": wire.OutcomeDeny, "cancel": wire.OutcomeDeny,
		"ask": wire.OutcomeAsk, "force_ask": wire.OutcomeAsk,
		"approve": wire.OutcomeAsk, "defer": wire.OutcomeAsk,
		"allow": wire.OutcomeAllow,
	}
	heardDecision = []string{"permissionDecision", "permission_decision", "permission", "behavior", "decision", "action"}
	heardReason   = []string{
		"permissionDecisionReason", "permission_decision_reason", "reason", "errorMessage", "message", "user_message", "followup_message", "stopReason",
		"stop_reason",
	}
	heardInput = []string{"updatedInput", "updated_input", "modifiedArgs", "overrideInput", "tool_input", "args"}
)

// Heard reads from the bytes of a reply which verdict they tell the agent.
func Heard(a Asked, r Reply) (t wire.Told) {
	t.Decision = wire.OutcomeNone
	if r.Exit == 2 || r.Exit != 0 && a.Denies() {
		return wire.Told{Decision: wire.OutcomeDeny, Reason: r.Stderr}
	}
	top := json.RawMessage(r.Stdout)
	inner := rawjson.Get(top, "hookSpecificOutput")
	if inner == nil {
		inner = rawjson.Get(top, "hook_specific_output")
	}
	parts := []json.RawMessage{rawjson.Get(inner, "decision"), inner, rawjson.Get(top, "decision"), top}
	stops := string(rawjson.Get(top, "continue")) == "false" || string(rawjson.Get(top, "cancel")) == "true" ||
		rawjson.Get(top, "followup_message") != nil || string(rawjson.Get(top, "halt")) == "true"
	for _, part := range parts {
		if len(part) == 0 || part[0] != '{' {
			continue
		}
		for _, key := range heardDecision {
			word := rawjson.StringIn(part, key)
			if o := heardWords[word]; o != "" && t.Decision == wire.OutcomeNone {
				t.Decision = o
			}
			stops = stops || key == "decision" && word == "continue" // at its stop: go on with the work
		}
		for _, key := range heardReason {
			t.Reason = cmp.Or(t.Reason, rawjson.StringIn(part, key))
		}
		for _, key := range heardInput {
			t.Rewrote = t.Rewrote || rawjson.Get(part, key) != nil
		}
	}
	if stops {
		t.Decision = wire.OutcomeDeny
	}
	if t.Decision == wire.OutcomeDeny && !a.Denies() && a.Verdict.UpdatedToolResponse != nil {
		t.Decision = wire.OutcomeNone // in the words of a denial it gets another result
	}
	if t.Decision == wire.OutcomeNone {
		t.Reason = ""
	}
	return t
}
