package copilot

import (
	"cmp"
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Events that take context.
const takesText = "sessionStart postToolUse postToolUseFailure subagentStart notification"

// Answer writes the answer that Copilot reads.
func Answer(a neutral.Asked) neutral.Reply {
	var top []rawjson.Member
	switch {
	case a.Is("preToolUse"):
		top = beforeTool(a)
	case a.Is("permissionRequest"):
		top = permission(a)
	case a.Is("agentStop subagentStop") && a.Denies() && a.Verdict.Continue:
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("postToolUse") && a.Verdict.UpdatedToolResponse != nil:
		top = append(top, neutral.Raw("modifiedResult", result(a)))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		top = append(top, neutral.Str("additionalContext", text))
	}
	return neutral.Say("{}", top...)
}

func beforeTool(a neutral.Asked) (top []rawjson.Member) {
	switch {
	case a.Denies():
		top = decision("deny", a.Reason())
	case a.Asks(), a.RewritesOnly(): // no person has approved the input that a hook changed
		top = decision("ask", a.Reason())
	case a.Allows():
		top = []rawjson.Member{neutral.Str("permissionDecision", "allow")}
	}
	if a.Rewrites() {
		top = append(top, neutral.Raw("modifiedArgs", a.Verdict.UpdatedInput))
	}
	return top
}

func decision(word, reason string) []rawjson.Member {
	return []rawjson.Member{
		neutral.Str("permissionDecision", word), neutral.Str("permissionDecisionReason", reason),
	}
}

func permission(a neutral.Asked) []rawjson.Member {
	switch {
	case a.Denies():
		top := []rawjson.Member{neutral.Str("behavior", "deny"), neutral.Str("message", a.Reason())}
		if !a.Verdict.Continue {
			top = append(top, neutral.Bool("interrupt", true))
		}
		return top
	case a.Allows():
		return []rawjson.Member{neutral.Str("behavior", "allow")}
	}
	return nil
}

// result returns the new result in Copilot's shape.
func result(a neutral.Asked) json.RawMessage {
	is := a.Verdict.UpdatedToolResponse
	if rawjson.Get(is, "textResultForLlm") != nil {
		return is
	}
	was := rawjson.Get(a.Payload, "toolResult")
	if rawjson.Get(was, "textResultForLlm") == nil {
		was = json.RawMessage(`{"resultType":"success","textResultForLlm":""}`)
	}
	return neutral.WithResultText(was, neutral.ResultText(is))
}

// borrowed answers an event under a PascalCase name, which Copilot sends as
// Claude Code does, and is told likewise.
func borrowed(a neutral.Asked, answer func(neutral.Asked) neutral.Reply) neutral.Reply {
	if a.RewritesOnly() { // that Copilot takes a new input without a decision is not documented
		asks := *a.Verdict
		asks.PermissionDecision, a.Verdict = "ask", &asks
	}
	reply := answer(a)
	reply.Stdout = cmp.Or(reply.Stdout, "{}") // what an empty one means is not documented
	return reply
}
