package dockeragent

import (
	"cmp"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Bridge is docker-agent as the bridge knows it: an agent whose own hook
// command is the bridge.
func Bridge() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks: "pre_tool_use tool_guard permission_request", Answer: Answer,
	}
}

// Table says where docker-agent's payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "agent_name", Fact: neutral.AgentName},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "tool_error", Fact: neutral.Failed},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "last_user_message", Fact: neutral.Prompt},
			{Field: "stop_response", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source, Events: "session_start"},
			{Field: "source", Fact: neutral.Trigger, Events: "pre_compact"},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "notification_message", Fact: neutral.ErrorText, Events: "on_error"},
			{Field: "notification_message", Fact: neutral.Text},
			{Field: "summary", Fact: neutral.Summary},
			{Field: "messages", Fact: neutral.Messages},
			{Field: "model_id", Fact: neutral.Model},
		},
		Fixed: []neutral.Fixed{{Events: "on_error", Fact: neutral.Failed, Value: "true"}},
		Tools: []neutral.ToolName{
			{Own: "shell", Canonical: "Bash", Args: "cmd=command"},
			{Own: "run_background_job", Canonical: "Bash", Args: "cmd=command", OneWay: true},
			{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
			{Own: "read_multiple_files", Canonical: "Read", OneWay: true},
			{Own: "write_file", Canonical: "Write", Args: "path=file_path"},
			{Own: "edit_file", Canonical: "Edit", Args: "path=file_path"},
			{Own: "list_directory", Canonical: "LS"},
			{Own: "search_files_content", Canonical: "Grep", Args: "query=pattern"},
			{Own: "fetch", Canonical: "WebFetch"},
			{Own: "transfer_task", Canonical: "Agent", Args: "task=prompt"},
		},
	}
}

// Answer writes what docker-agent reads (reference/docker-agent.md section 3):
// a denial is a block with exit code 2.
func Answer(a neutral.Asked) neutral.Reply {
	row := events.LookupIn(events.DockerAgent, a.Event)
	if row == nil {
		return neutral.Reply{}
	}
	var top []events.Member
	if !a.Verdict.Continue {
		top = append(top, neutral.Bool("continue", false), neutral.Str("stop_reason", cmp.Or(a.Verdict.StopReason, a.Reason())))
	}
	if a.Denies() {
		top = append(top, neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	}
	if a.Verdict.SystemMessage != "" {
		top = append(top, neutral.Str("system_message", a.Verdict.SystemMessage))
	}
	if inner := specific(a); len(inner) > 0 {
		inner = append([]events.Member{neutral.Str("hook_event_name", a.Event)}, inner...)
		top = append(top, neutral.Member("hook_specific_output", inner...))
	}
	reply := neutral.Say("", top...)
	if a.Denies() {
		reply.Stderr, reply.Exit = a.Reason(), 2
	}
	return reply
}

// specific is the inside of hook_specific_output: what the verdict holds.
func specific(a neutral.Asked) (inner []events.Member) {
	v := a.Verdict
	switch {
	case a.Denies():
	case a.Asks():
		inner = append(inner, neutral.Str("permission_decision", "ask"), neutral.Str("permission_decision_reason", a.Reason()))
	case a.Allows():
		inner = append(inner, neutral.Str("permission_decision", "allow"))
	}
	if v.UpdatedInput != nil {
		inner = append(inner, neutral.Raw("updated_input", v.UpdatedInput))
	}
	if v.UpdatedToolResponse != nil {
		inner = append(inner, neutral.Raw("updated_tool_response", v.UpdatedToolResponse))
	}
	if v.UpdatedMessages != nil {
		inner = append(inner, neutral.Raw("updated_messages", v.UpdatedMessages))
	}
	if v.AdditionalContext != "" {
		inner = append(inner, neutral.Str("additional_context", v.AdditionalContext))
	}
	if v.Summary != "" {
		inner = append(inner, neutral.Str("summary", v.Summary))
	}
	return inner
}
