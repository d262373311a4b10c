// Package copilot speaks GitHub Copilot's dialect in its camelCase form
// (reference/dialects.md A6); its PascalCase form is Claude Code's. It is pure.
// Copilot takes any exit code but 0 for a denial of a tool call, so the exit
// code is always 0 and "no opinion" is {}.
package copilot

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Agent is Copilot. In the camelCase form only the bridge's argument names the
// event.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(30 * time.Second), Asks: "preToolUse PreToolUse permissionRequest",
		Breaks: true, ResultField: "toolResult", Replaces: neutral.On("postToolUse"), Normal: normal, Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "toolArgs", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "toolResult.textResultForLlm", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "initialPrompt", Fact: neutral.Prompt},
			{Field: "transcriptPath", Fact: neutral.Transcript},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "agentId", Fact: neutral.AgentID},
			{Field: "agentType", Fact: neutral.AgentType},
			{Field: "agentName", Fact: neutral.AgentName},
			{Field: "response", Fact: neutral.Answer},
			{Field: "error", Fact: neutral.ErrorText, Events: "postToolUseFailure"},
			{Field: "error.message", Fact: neutral.ErrorText, Events: "errorOccurred"},
			{Field: "errorContext", Fact: neutral.ErrorType},
			{Field: "recoverable", Fact: neutral.Recoverable},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "customInstructions", Fact: neutral.Instructions},
			{Field: "message", Fact: neutral.Text},
			{Field: "title", Fact: neutral.Title},
			{Field: "notification_type", Fact: neutral.NoticeType},
		},
		Fixed: []neutral.Fixed{{Events: "postToolUseFailure errorOccurred", Fact: neutral.Failed, Value: "true"}},
		Tools: []neutral.ToolName{
			{Own: "bash", Canonical: "Bash"},
			{Own: "powershell", Canonical: "Bash", OneWay: true},
			{Own: "view", Canonical: "Read", Args: "path=file_path"},
			{Own: "create", Canonical: "Write", Args: "path=file_path file_text=content"},
			{Own: "edit", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string"},
			{Own: "str_replace_editor", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string", OneWay: true},
			{Own: "apply_patch", Canonical: "Edit", OneWay: true},
			{Own: "apply_patch", Canonical: "Write", OneWay: true},
			{Own: "grep", Canonical: "Grep"},
			{Own: "rg", Canonical: "Grep", OneWay: true},
			{Own: "glob", Canonical: "Glob"},
			{Own: "web_fetch", Canonical: "WebFetch"},
			{Own: "web_search", Canonical: "WebSearch"},
			{Own: "ask_user", Canonical: "AskUserQuestion"},
			{Own: "update_todo", Canonical: "TodoWrite"},
			{Own: "task", Canonical: "Agent"},
		},
	}
}

// normal reads toolArgs that came as JSON text.
func normal(_ string, payload json.RawMessage) json.RawMessage {
	text, ok := events.GetString(payload, "toolArgs")
	if args := json.RawMessage(text); ok && json.Valid(args) {
		return events.With(payload, events.Member{Key: "toolArgs", Value: args})
	}
	return payload
}

// Events that take context.
const takesText = "sessionStart postToolUse postToolUseFailure subagentStart notification"

// Answer writes what Copilot reads (reference/dialects.md A6, B3).
func Answer(a neutral.Asked) neutral.Reply {
	var top []events.Member
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

func beforeTool(a neutral.Asked) []events.Member {
	switch {
	case a.Denies():
		return []events.Member{neutral.Str("permissionDecision", "deny"), neutral.Str("permissionDecisionReason", a.Reason())}
	case a.Asks():
		top := []events.Member{neutral.Str("permissionDecision", "ask"), neutral.Str("permissionDecisionReason", a.Reason())}
		if a.Rewrites() {
			top = append(top, neutral.Raw("modifiedArgs", a.Verdict.UpdatedInput))
		}
		return top
	case a.Rewrites():
		return []events.Member{neutral.Str("permissionDecision", "allow"), neutral.Raw("modifiedArgs", a.Verdict.UpdatedInput)}
	case a.Allows():
		return []events.Member{neutral.Str("permissionDecision", "allow")}
	}
	return nil
}

func permission(a neutral.Asked) []events.Member {
	switch {
	case a.Denies():
		top := []events.Member{neutral.Str("behavior", "deny"), neutral.Str("message", a.Reason())}
		if !a.Verdict.Continue {
			top = append(top, neutral.Bool("interrupt", true))
		}
		return top
	case a.Allows():
		return []events.Member{neutral.Str("behavior", "allow")}
	}
	return nil
}

// result returns the new result in Copilot's shape.
func result(a neutral.Asked) json.RawMessage {
	is := a.Verdict.UpdatedToolResponse
	if events.Get(is, "textResultForLlm") != nil {
		return is
	}
	was := events.Get(a.Payload, "toolResult")
	if events.Get(was, "textResultForLlm") == nil {
		was = json.RawMessage(`{"resultType":"success","textResultForLlm":""}`)
	}
	return neutral.WithResultText(was, neutral.ResultText(is))
}
