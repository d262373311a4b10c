// Package cursor speaks Cursor's dialect (reference/dialects.md A5). It is
// pure. Cursor wants JSON on every event, so "no opinion" is {}. For one shell
// or MCP call it sends two events, which Pair ties together: the first can
// rewrite, the second can ask a person.
package cursor

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Events that come in pairs for one call, and what they can do.
const (
	shellOrMCP = "beforeShellExecution beforeMCPExecution"
	readsFile  = "beforeReadFile beforeTabFileRead"
	guards     = "preToolUse subagentStart " + shellOrMCP + " " + readsFile
	toldAgent  = "preToolUse " + shellOrMCP // the agent is told the reason too
	keepsOn    = "stop subagentStop"
	takesText  = "sessionStart postToolUse"
	mcpPrefix  = "MCP:"
)

// Agent is Cursor. Its default deadline is not documented: 60 s is taken.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks: shellOrMCP, Defers: defers, Pair: Pair,
		ResultField: "tool_output", Replaces: replaces, Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "conversation_id", Fact: neutral.Session},
			{Field: "session_id", Fact: neutral.Session},
			{Field: "generation_id", Fact: neutral.Turn},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "workspace_roots.0", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "model", Fact: neutral.Model},
			{Field: "composer_mode", Fact: neutral.Mode},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input, Events: "preToolUse postToolUse postToolUseFailure"},
			{Field: "tool_input", Fact: neutral.Input, Events: "beforeMCPExecution afterMCPExecution", Form: neutral.JSON},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "mcp_server_name", Fact: neutral.MCPServer},
			{Field: "command", Fact: neutral.Input + ".command", Events: "beforeShellExecution afterShellExecution"},
			{Field: "file_path", Fact: neutral.Input + ".file_path", Events: "beforeReadFile beforeTabFileRead afterFileEdit afterTabFileEdit"},
			{Field: "edits", Fact: neutral.Input + ".edits", Events: "afterFileEdit afterTabFileEdit"},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.JSON},
			{Field: "output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "result_json", Fact: neutral.Result, Form: neutral.JSON},
			{Field: "error_message", Fact: neutral.ErrorText},
			{Field: "is_interrupt", Fact: neutral.Interrupted},
			{Field: "duration", Fact: neutral.Took},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "text", Fact: neutral.Answer},
			{Field: "summary", Fact: neutral.Answer, Events: "subagentStop"},
			{Field: "status", Fact: neutral.Status, Words: "completed=ok error=error aborted=aborted"},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "subagent_type", Fact: neutral.AgentType},
			{Field: "subagent_id", Fact: neutral.AgentID},
			{Field: "task", Fact: neutral.Task},
		},
		Fixed: []neutral.Fixed{
			{Events: "beforeShellExecution afterShellExecution", Fact: neutral.Tool, Value: `"Shell"`},
			{Events: "beforeReadFile beforeTabFileRead", Fact: neutral.Tool, Value: `"Read"`},
			{Events: "afterFileEdit afterTabFileEdit", Fact: neutral.Tool, Value: `"Write"`},
			{Events: "postToolUseFailure", Fact: neutral.Failed, Value: "true"},
		},
		Tools: []neutral.ToolName{
			{Own: "Shell", Canonical: "Bash"},
			{Own: "Write", Canonical: "Write"},
			{Own: "Write", Canonical: "Edit", OneWay: true}, // it has one name for both
			{Own: "Task", Canonical: "Agent"},
		},
		MCPPrefix: mcpPrefix,
	}
}

// Answer writes what Cursor reads (reference/dialects.md A5, B3).
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is(guards):
		return guard(a)
	case a.Is("beforeSubmitPrompt") && a.Denies():
		return neutral.Say("", neutral.Bool("continue", false), neutral.Str("user_message", a.Reason()))
	case a.Is(keepsOn) && a.Denies() && a.Verdict.Continue:
		return neutral.Say("", neutral.Str("followup_message", a.Reason()))
	}
	var top []events.Member
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
	case a.Is("preToolUse") && a.Rewrites():
		return neutral.Say("", neutral.Str("permission", "allow"), neutral.Raw("updated_input", a.Verdict.UpdatedInput))
	case a.Allows():
		return neutral.Say("", neutral.Str("permission", "allow"))
	default:
		return neutral.Say("{}")
	}
	top := []events.Member{neutral.Str("permission", word), neutral.Str("user_message", a.Reason())}
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
	block := events.With(nil, neutral.Str("type", "text"), neutral.Str("text", neutral.ResultText(result)))
	return events.With(nil, neutral.Raw("content", append(append(json.RawMessage("["), block...), ']')))
}

// replaces: only the result of an MCP tool can be another.
func replaces(event string, payload json.RawMessage) bool {
	name, _ := events.GetString(payload, "tool_name")
	return event == "postToolUse" && strings.HasPrefix(name, mcpPrefix)
}

// defers: after preToolUse of a shell or MCP call Cursor asks again, with an
// event on which it can ask a person.
func defers(event string, payload json.RawMessage) bool {
	name, _ := events.GetString(payload, "tool_name")
	return event == "preToolUse" && (name == "Shell" || strings.HasPrefix(name, mcpPrefix))
}

// Pair names the call of an event that comes twice: by the turn and what is
// called with what, since the second event has no id of the call. It tells
// preToolUse and postToolUse, which come first, from the others.
func Pair(event string, payload json.RawMessage) (call string, second bool) {
	var phase string
	switch event {
	case "preToolUse", "beforeShellExecution", "beforeMCPExecution":
		phase = "before"
	case "postToolUse", "afterShellExecution", "afterMCPExecution":
		phase = "after"
	default:
		return "", false
	}
	table := Table()
	f := table.Read(event, payload)
	own, _ := events.GetString(payload, "tool_name")
	var what string
	switch tool := f.String(neutral.Tool); {
	case tool == "Bash":
		what, _ = events.GetString(f[neutral.Input], "command")
	case strings.HasPrefix(own, mcpPrefix):
		what = own + "\x00" + string(sorted(f[neutral.Input]))
	}
	turn := f.String(neutral.Turn)
	if what == "" || turn == "" {
		return "", false
	}
	return strings.Join([]string{phase, f.String(neutral.Session), turn, what}, "\x00"), event != "preToolUse" && event != "postToolUse"
}

// sorted spells equal objects equally.
func sorted(v json.RawMessage) []byte {
	var any any
	if json.Unmarshal(v, &any) != nil {
		return v
	}
	out, err := json.Marshal(any)
	if err != nil {
		return v
	}
	return out
}
