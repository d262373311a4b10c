package codex

import (
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Events by how they are denied.
const (
	byDecision = "UserPromptSubmit PostToolUse Stop SubagentStop"
	byContinue = "SessionStart PreCompact PostCompact"
	canStop    = byDecision + " " + byContinue
	takesText  = "SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart"
)

// Answer writes the answer that Codex reads.
func Answer(a neutral.Asked) neutral.Reply {
	var top []rawjson.Member
	if stops := a.Denies() && a.Is(byContinue) || !a.Verdict.Continue && a.Is(canStop); stops {
		top = append(top, neutral.Bool("continue", false), neutral.Str("stopReason", a.StopReason()))
	}
	switch {
	case a.Is(byDecision) && a.Denies():
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("PostToolUse") && a.Verdict.UpdatedToolResponse != nil:
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.NewResult()))
	}
	if text := message(a); text != "" {
		top = append(top, neutral.Str("systemMessage", text))
	}
	if inner := specific(a); len(inner) > 0 {
		inner = append([]rawjson.Member{neutral.Str("hookEventName", a.Event)}, inner...)
		top = append(top, neutral.Member("hookSpecificOutput", inner...))
	}
	return neutral.Say("", top...)
}

// message is the text that the user reads.
func message(a neutral.Asked) string {
	if a.Is("PreToolUse") && a.RewritesOnly() {
		return strings.TrimPrefix(a.Verdict.SystemMessage+"\n"+neutral.InputStays("Codex"), "\n")
	}
	return a.Verdict.SystemMessage
}

func specific(a neutral.Asked) []rawjson.Member {
	var inner []rawjson.Member
	switch {
	case a.Is("PreToolUse") && a.Denies():
		inner = append(inner, neutral.Str("permissionDecision", "deny"),
			neutral.Str("permissionDecisionReason", a.Reason()))
	case a.Is("PreToolUse") && a.Rewrites() && a.Allows(): // it has no other word for a new input
		inner = append(inner, neutral.Str("permissionDecision", "allow"),
			neutral.Raw("updatedInput", a.Verdict.UpdatedInput))
	case a.Is("PermissionRequest") && a.Denies():
		inner = append(inner, neutral.Member("decision",
			neutral.Str("behavior", "deny"), neutral.Str("message", a.Reason())))
	case a.Is("PermissionRequest") && a.Allows():
		inner = append(inner, neutral.Member("decision", neutral.Str("behavior", "allow")))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		inner = append(inner, neutral.Str("additionalContext", text))
	}
	return inner
}
