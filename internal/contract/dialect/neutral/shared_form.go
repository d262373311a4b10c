package neutral

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// AnswerForm is the part of Claude Code's answers that an agent reads: several agents took
// over that form, each of them another part. Most fields name events, separated by blanks;
// "" = none.
type AnswerForm struct {
	Empty    string // what is printed for no opinion
	Decides  string // take permissionDecision deny, and ask where the agent's Asks says so
	Approves string // take permissionDecision allow
	Rewrites string // take updatedInput
	// Vouched: an updatedInput counts with permissionDecision allow alone, so without an
	// approval the call has the input that it had.
	Vouched bool
	// Defers: an ask that a hook defers is said so where no person is: the call would run.
	Defers  bool
	Permits string // take decision.behavior: requests for permission
	Blocks  string // take decision block
	Inside  string // take decision block within hookSpecificOutput, not beside it
	Exits   string // take exit code 2 and stderr, and nothing else
	Text    string // take additionalContext
	Plain   string // take plain text as context, and no object
	Results string // take updatedToolOutput
	Shaped  bool   // updatedToolOutput must have the shape of the old result
	Stops   string // take continue false; "*" = all do
	Says    bool   // systemMessage is shown
	Elicits string // take action and content: questions of MCP servers
	// Takes returns the fields that few agents read as the answer to an event. Nil = none.
	Takes func(event string) []events.Field
}

// Answer writes the answer that an agent of that form reads.
func (f *AnswerForm) Answer(a Asked) Reply {
	if a.Is(f.Exits) && a.Denies() {
		return Reply{Stderr: a.Reason(), Exit: 2}
	}
	if a.Is(f.Plain) {
		return Reply{Stdout: cmp.Or(a.Verdict.AdditionalContext, f.Empty)}
	}
	var top []rawjson.Member
	if (f.Stops == "*" || a.Is(f.Stops)) && (!a.Verdict.Continue || a.Denies() && !f.denies(a) && !a.Is(f.Text)) {
		top = append(top, Bool("continue", false), Str("stopReason", a.StopReason()))
	}
	if a.Is(f.Blocks) && f.blocks(a) {
		top = append(top, Str("decision", "block"), Str("reason", a.Reason()))
	}
	if a.Verdict.SystemMessage != "" && f.Says {
		top = append(top, Str("systemMessage", a.Verdict.SystemMessage))
	}
	if inner := f.inside(a); len(inner) > 0 {
		top = append(top, Member("hookSpecificOutput", append([]rawjson.Member{Str("hookEventName", a.Event)},
			inner...)...))
	}
	return Say(f.Empty, top...)
}

// inside has the members that hookSpecificOutput holds beside the event's name.
func (f *AnswerForm) inside(a Asked) (inner []rawjson.Member) {
	switch {
	case a.Is(f.Decides):
		inner = f.decision(a)
	case a.Is(f.Permits):
		inner = f.permission(a)
	case a.Is(f.Inside) && f.blocks(a):
		inner = append(inner, Str("decision", "block"), Str("reason", a.Reason()))
	case a.Is(f.Results) && a.Verdict.UpdatedToolResponse != nil:
		inner = append(inner, Raw("updatedToolOutput", f.result(a)))
	case a.Is(f.Elicits):
		inner = a.Elicited()
	}
	inner = append(inner, a.Taken()...)
	if text := f.context(a); text != "" {
		inner = append(inner, Str("additionalContext", text))
	}
	return inner
}

// result is the new result, in the shape that the agent takes.
func (f *AnswerForm) result(a Asked) json.RawMessage {
	was, is := rawjson.Get(a.Payload, "tool_response"), a.Verdict.UpdatedToolResponse
	if f.Shaped && len(was) > 0 && len(is) > 0 && is[0] == '"' && was[0] != '"' {
		return WithResultText(was, TextOf(is))
	}
	return is
}

// blocks reports whether a block is to be said. At a stop it keeps the agent working,
// which is not the aim of a hook that stops it, unless continue false wins at each event.
func (f *AnswerForm) blocks(a Asked) bool {
	return a.Denies() && (a.Verdict.Continue || f.Stops == "*" || !a.Is("Stop SubagentStop"))
}

// denies reports whether the agent has a word for a denial of that event.
func (f *AnswerForm) denies(a Asked) bool {
	return a.Is(f.Decides) || a.Is(f.Permits) || a.Is(f.Blocks) || a.Is(f.Inside) || a.Is(f.Exits) || a.Is(f.Elicits)
}

// context is the text that the model is told: also why an event was denied that can
// stop the agent and has no milder word for it.
func (f *AnswerForm) context(a Asked) string {
	if !a.Is(f.Text) {
		return ""
	}
	text := a.Verdict.AdditionalContext
	if a.Denies() && !f.denies(a) {
		text = strings.Trim(a.Reason()+"\n\n"+text, "\n")
	}
	return text
}

func (f *AnswerForm) decision(a Asked) (inner []rawjson.Member) {
	word := ""
	switch {
	case a.Denies():
		word = "deny"
	case a.Asks() && f.Defers && a.Headless && a.Verdict.Specific["defer"] != nil:
		word = "defer"
	case a.Asks():
		word = "ask"
	case a.Allows() && a.Is(f.Approves):
		word = "allow"
	}
	if word != "" {
		inner = append(inner, Str("permissionDecision", word))
	}
	if word != "" && (word != "allow" || a.Verdict.DecisionReason != "") {
		inner = append(inner, Str("permissionDecisionReason", a.Reason()))
	}
	if a.Rewrites() && a.Is(f.Rewrites) && (!f.Vouched || word == "allow") {
		inner = append(inner, Raw("updatedInput", a.Verdict.UpdatedInput))
	}
	return inner
}

// permission answers a request for permission: a rewrite counts with an allow only.
func (f *AnswerForm) permission(a Asked) []rawjson.Member {
	switch {
	case a.Denies():
		decision := []rawjson.Member{Str("behavior", "deny"), Str("message", a.Reason())}
		if !a.Verdict.Continue {
			decision = append(decision, Bool("interrupt", true))
		}
		return []rawjson.Member{Member("decision", decision...)}
	case a.Allows():
		decision := []rawjson.Member{Str("behavior", "allow")}
		if a.Rewrites() && a.Is(f.Rewrites) {
			decision = append(decision, Raw("updatedInput", a.Verdict.UpdatedInput))
		}
		return []rawjson.Member{Member("decision", decision...)}
	}
	return nil
}

// SharedTable is the table of an agent that took over Claude Code's payloads. failures
// are its events about a failure, separated by blanks: of PostToolUseFailure and
// StopFailure; "" = it has neither.
func SharedTable(tools []ToolName, failures string) Table {
	rows := slices.DeleteFunc(sharedFields(), func(r FieldFact) bool {
		return r.Events != "" && !holds(failures, r.Events)
	})
	t := Table{Rows: rows, Tools: tools}
	if failures != "" {
		t.Fixed = []Fixed{{Events: failures, Fact: Failed, Value: "true"}}
	} else {
		t.Rows = slices.DeleteFunc(t.Rows, func(r FieldFact) bool { return r.Events != "" })
	}
	return t
}

func sharedFields() []FieldFact {
	return []FieldFact{
		{Field: "session_id", Fact: Session},
		{Field: "prompt_id", Fact: Turn},
		{Field: "transcript_path", Fact: Transcript},
		{Field: "cwd", Fact: Cwd},
		{Field: "permission_mode", Fact: Mode},
		{Field: "hook_event_name", Fact: Event},
		{Field: "agent_id", Fact: AgentID},
		{Field: "agent_type", Fact: AgentType},
		{Field: "agent_transcript_path", Fact: AgentTranscript},
		{Field: "model", Fact: Model},
		{Field: "tool_name", Fact: Tool},
		{Field: "tool_input", Fact: Input},
		{Field: "tool_use_id", Fact: Call},
		{Field: "tool_response", Fact: Result},
		{Field: "duration_ms", Fact: Took},
		{Field: "permission_suggestions", Fact: Suggestions},
		{Field: "error", Fact: ErrorText, Events: "PostToolUseFailure"},
		{Field: "is_interrupt", Fact: Interrupted},
		{Field: "error", Fact: ErrorType, Events: "StopFailure"},
		{Field: "error_details", Fact: ErrorText, Events: "StopFailure"},
		{Field: "prompt", Fact: Prompt},
		{Field: "stop_hook_active", Fact: Looped},
		{Field: "last_assistant_message", Fact: Answer},
		{Field: "source", Fact: Source},
		{Field: "reason", Fact: Reason},
		{Field: "trigger", Fact: Trigger},
		{Field: "custom_instructions", Fact: Instructions},
		{Field: "compact_summary", Fact: Summary},
		{Field: "message", Fact: Text},
		{Field: "title", Fact: Title},
		{Field: "notification_type", Fact: NoticeType},
		{Field: "file_path", Fact: File},
	}
}
