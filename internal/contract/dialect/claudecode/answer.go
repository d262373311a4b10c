package claudecode

import (
	"cmp"
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Events by how they are denied.
const (
	byDecision = "UserPromptSubmit UserPromptExpansion PostToolUse PostToolBatch Stop SubagentStop PreCompact ConfigChange TaskCreated"
	byExit     = "TaskCompleted TeammateIdle WorktreeCreate"
	byDecline  = "Elicitation ElicitationResult"
	takesText  = "SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure PostToolBatch Stop SubagentStart SubagentStop Notification PostModelSwitch"
)

// Answer writes the answer that Claude Code reads.
func Answer(a neutral.Asked) neutral.Reply {
	if a.Is(byExit) && a.Denies() {
		return neutral.Reply{Stderr: a.Reason(), Exit: 2} // the only way to say no there
	}
	var top []rawjson.Member
	if !a.Verdict.Continue {
		reason := cmp.Or(a.Verdict.StopReason, a.Reason())
		top = append(top, neutral.Bool("continue", false), neutral.Str("stopReason", reason))
	}
	if a.Is(byDecision) && a.Denies() {
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("systemMessage", a.Verdict.SystemMessage))
	}
	if inner := specific(a); len(inner) > 0 {
		inner = append([]rawjson.Member{neutral.Str("hookEventName", a.Event)}, inner...)
		top = append(top, neutral.Member("hookSpecificOutput", inner...))
	}
	return neutral.Say("", top...)
}

// specific is the inside of hookSpecificOutput.
func specific(a neutral.Asked) []rawjson.Member {
	var inner []rawjson.Member
	switch {
	case a.Is("PreToolUse PreModelSwitch"), a.Is("PreSkillShellCommand") && a.Denies():
		inner = beforeTool(a)
	case a.Is("PermissionRequest"):
		inner = permission(a)
	case a.Is("PostToolUse") && a.Verdict.UpdatedToolResponse != nil:
		inner = append(inner, neutral.Raw("updatedToolOutput", shaped(a)))
	case a.Is(byDecline):
		inner = a.Elicited()
	}
	inner = append(inner, a.Taken()...)
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		inner = append(inner, neutral.Str("additionalContext", text))
	}
	return inner
}

// beforeTool answers a PreToolUse. A new input comes without a decision where no
// hook took one: Claude Code's own permissions apply to it.
func beforeTool(a neutral.Asked) []rawjson.Member {
	word := ""
	switch {
	case a.Denies():
		word = "deny"
	case a.Asks() && a.Headless && a.Verdict.Specific["defer"] != nil:
		word = "defer" // with a person it would be ignored, and the call would run
	case a.Asks():
		word = "ask"
	case a.Allows():
		word = "allow"
	}
	var inner []rawjson.Member
	if word != "" {
		inner = append(inner, neutral.Str("permissionDecision", word))
	}
	if word == "deny" || word == "defer" || word == "ask" || word == "allow" && a.Verdict.DecisionReason != "" {
		inner = append(inner, neutral.Str("permissionDecisionReason", a.Reason()))
	}
	if a.Rewrites() {
		inner = append(inner, neutral.Raw("updatedInput", a.Verdict.UpdatedInput))
	}
	return inner
}

// permission answers a PermissionRequest: a rewrite counts with an allow only.
func permission(a neutral.Asked) []rawjson.Member {
	switch {
	case a.Denies():
		decision := []rawjson.Member{neutral.Str("behavior", "deny"), neutral.Str("message", a.Reason())}
		if !a.Verdict.Continue {
			decision = append(decision, neutral.Bool("interrupt", true))
		}
		return []rawjson.Member{neutral.Member("decision", decision...)}
	case a.Allows():
		decision := []rawjson.Member{neutral.Str("behavior", "allow")}
		if a.Rewrites() {
			decision = append(decision, neutral.Raw("updatedInput", a.Verdict.UpdatedInput))
		}
		return []rawjson.Member{neutral.Member("decision", decision...)}
	}
	return nil
}

// shaped returns the new result in the shape of the old one: Claude Code
// refuses another.
func shaped(a neutral.Asked) json.RawMessage {
	was, is := rawjson.Get(a.Payload, "tool_response"), a.Verdict.UpdatedToolResponse
	if len(was) > 0 && len(is) > 0 && is[0] == '"' && was[0] != '"' {
		return neutral.WithResultText(was, neutral.TextOf(is))
	}
	return is
}
