package cursor

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Events that come in pairs for one call, and events by their abilities.
const (
	shellOrMCP = "beforeShellExecution beforeMCPExecution"
	readsFile  = "beforeReadFile beforeTabFileRead"
	guards     = "preToolUse subagentStart " + shellOrMCP + " " + readsFile
	toldAgent  = "preToolUse " + shellOrMCP // the agent is told the reason too
	keepsOn    = "stop subagentStop"
	takesText  = "sessionStart postToolUse"
	mcpPrefix  = "MCP:"
)

// Answer writes the answer that Cursor reads.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is(guards):
		return guard(a)
	case a.Is("beforeSubmitPrompt") && a.Denies():
		return neutral.Say("", neutral.Bool("continue", false), neutral.Str("user_message", a.Reason()))
	case a.Is(keepsOn) && a.Denies() && a.Verdict.Continue:
		return neutral.Say("", neutral.Str("followup_message", a.Reason()))
	}
	var top []rawjson.Member
	if is := a.Verdict.UpdatedToolResponse; is != nil && replaces(a.Event, a.Payload) {
		top = append(top, neutral.Raw("updated_mcp_tool_output", object(is)))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		top = append(top, neutral.Str("additional_context", text))
	}
	return neutral.Say("{}", top...)
}

func guard(a neutral.Asked) neutral.Reply {
	word := ""
	switch {
	case a.Denies():
		word = "deny"
	case a.Asks() && a.Is(shellOrMCP):
		word = "ask"
	case a.Is("preToolUse") && a.RewritesOnly():
		return neutral.Reply{Stdout: "{}", Stderr: neutral.InputStays("Cursor")} // and an ask is not heeded here
	case a.Is("preToolUse") && a.Rewrites():
		return neutral.Say("", neutral.Str("permission", "allow"), neutral.Raw("updated_input", a.Verdict.UpdatedInput))
	case a.Allows():
		return neutral.Say("", neutral.Str("permission", "allow"))
	default:
		return neutral.Say("{}")
	}
	top := []rawjson.Member{neutral.Str("permission", word), neutral.Str("user_message", a.Reason())}
	if a.Is(toldAgent) {
		top = append(top, neutral.Str("agent_message", a.Reason()))
	}
	return neutral.Say("", top...)
}

// object returns a result as Cursor takes it: an object.
func object(result json.RawMessage) json.RawMessage {
	if text := neutral.TextOf(result); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if len(result) > 0 && result[0] == '{' {
		return result
	}
	block := rawjson.With(nil, neutral.Str("type", "text"), neutral.Str("text", neutral.ResultText(result)))
	return rawjson.With(nil, neutral.Raw("content", append(append(json.RawMessage("["), block...), ']')))
}
