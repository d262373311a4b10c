package hermes

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Answer writes the answer that Hermes reads.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("pre_tool_call") && a.Denies(), a.Is("pre_verify") && a.Denies() && a.Verdict.Continue:
		return neutral.Say("", neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("pre_tool_call") && a.Asks() && a.Rewrites(): // an answer has one action
		reply := neutral.Say("", neutral.Str("action", "approve"))
		reply.Stderr = "hookd: a hook changed the input of this call and another asks about it: the person is asked about the input that it had"
		return reply
	case a.Is("pre_tool_call") && a.Asks():
		return neutral.Say("", neutral.Str("action", "approve"))
	case a.Is("pre_tool_call") && a.Rewrites():
		return neutral.Say("", neutral.Str("action", "modify"), neutral.Raw("args", a.Verdict.UpdatedInput))
	case a.Is("pre_llm_call") && a.Verdict.AdditionalContext != "":
		return neutral.Say("", neutral.Str("context", a.Verdict.AdditionalContext))
	}
	return neutral.Say("{}")
}
