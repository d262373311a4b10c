package cline

import (
	"bytes"
	"encoding/json"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// maxContext is the number of bytes that Cline takes in contextModification.
const maxContext = 50_000

// Events by the answers that they take.
const (
	cancels   = "TaskStart TaskResume UserPromptSubmit PreToolUse PostToolUse PreCompact"
	takesText = "TaskStart TaskResume UserPromptSubmit PreToolUse PostToolUse"
)

// Answer writes the answer that Cline reads. A cancel ends the task.
func Answer(a neutral.Asked) neutral.Reply {
	if a.Denies() && a.Is(cancels) {
		return cancel(a.Reason())
	}
	top, text := []rawjson.Member{neutral.Bool("cancel", false)}, a.Verdict.AdditionalContext
	if a.Rewrites() && a.Is("PreToolUse") {
		input, why := rewritten(a)
		switch {
		case why != "":
			return cancel(why)
		case input != nil:
			top = append(top, neutral.Raw("overrideInput", input))
		}
	}
	if text != "" && a.Is(takesText) {
		top = append(top, neutral.Str("contextModification", escape.Head(text, maxContext)))
	}
	return neutral.Say("", top...)
}

func cancel(reason string) neutral.Reply {
	return neutral.Say("", neutral.Bool("cancel", true), neutral.Str("errorMessage", reason))
}

// rewritten is the input to run instead, nil where it is as it was; or why Cline cannot
// be told.
func rewritten(a neutral.Asked) (input json.RawMessage, why string) {
	call, table := rawjson.Get(a.Payload, "tool_call"), Table()
	own := rawjson.StringIn(call, "name")
	if was := table.Read(a.Event, a.Payload)[neutral.Input]; bytes.Equal(was, a.Verdict.UpdatedInput) {
		return nil, ""
	}
	if call == nil {
		return nil, "a hook rewrites this call, which this version of Cline cannot do: denied"
	}
	input, ok := override(own, a.Verdict.UpdatedInput)
	if !ok {
		return nil, "a hook rewrites a call of " + own + ", whose input hookd cannot put together again: denied"
	}
	return input, ""
}
