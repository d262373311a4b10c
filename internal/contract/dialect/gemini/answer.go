package gemini

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Events by the answers that they take.
const (
	canBlock  = "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel"
	takesText = "SessionStart BeforeAgent AfterTool"
)

// Answer writes the answer that Gemini CLI reads.
func Answer(a neutral.Asked) neutral.Reply {
	var top []rawjson.Member
	if !a.Verdict.Continue && a.Is(canBlock) {
		top = append(top, neutral.Bool("continue", false), neutral.Str("stopReason", a.StopReason()))
	}
	switch {
	case a.Is(canBlock) && a.Denies():
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", a.Reason()))
	case a.Is("BeforeTool") && a.Asks():
		top = append(top, neutral.Str("decision", "ask"), neutral.Str("reason", a.Reason()))
	case a.Is("AfterTool") && a.Verdict.UpdatedToolResponse != nil:
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", a.NewResult()))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("systemMessage", a.Verdict.SystemMessage))
	}
	var inner []rawjson.Member
	if a.Is("BeforeTool") && a.Rewrites() {
		inner = append(inner, neutral.Raw("tool_input", a.Verdict.UpdatedInput))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is(takesText) {
		inner = append(inner, neutral.Str("additionalContext", text))
	}
	if len(inner) > 0 {
		inner = append([]rawjson.Member{neutral.Str("hookEventName", a.Event)}, inner...)
		top = append(top, neutral.Member("hookSpecificOutput", inner...))
	}
	return neutral.Say("{}", top...)
}
