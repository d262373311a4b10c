// Package antigravity speaks the dialect of Antigravity's agy
// (reference/dialects.md A4), as others have measured it. It is pure. There an
// empty answer to PreToolUse denies: "no opinion" has to be an allow, which
// does not switch off agy's own prompts.
package antigravity

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Agent is Antigravity. Only the bridge's argument names the event.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), Timeout: neutral.Always(10 * time.Second), Asks: "PreToolUse",
		Quiet: true, Breaks: true, Foreign: true, Answer: Answer,
	}
}

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "conversationId", Fact: neutral.Session},
			{Field: "modelName", Fact: neutral.Model},
			{Field: "transcriptPath", Fact: neutral.Transcript},
			{Field: "workspacePaths.0", Fact: neutral.Cwd},
			{Field: "toolCall.name", Fact: neutral.Tool},
			{Field: "toolCall.args", Fact: neutral.Input},
		},
		Tools: []neutral.ToolName{
			{Own: "run_command", Canonical: "Bash", Args: "CommandLine=command Cwd=cwd"},
			{Own: "view_file", Canonical: "Read", Args: "AbsolutePath=file_path"},
			{Own: "write_to_file", Canonical: "Write", Args: "TargetFile=file_path CodeContent=content"},
			{Own: "replace_file_content", Canonical: "Edit", Args: "TargetFile=file_path TargetContent=old_string ReplacementContent=new_string"},
			{Own: "list_dir", Canonical: "LS", Args: "DirectoryPath=path"},
			{Own: "grep_search", Canonical: "Grep", Args: "Query=pattern SearchPath=path"},
			{Own: "ask_question", Canonical: "AskUserQuestion"},
		},
	}
}

// Answer writes what agy reads (reference/dialects.md A4, B3). An event that
// it cannot place is answered as PreToolUse, which is right for all.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("PostToolUse PostInvocation SessionStart"):
		return neutral.Say("{}")
	case a.Is("Stop"):
		if a.Denies() && a.Verdict.Continue {
			return decide("continue", a.Reason())
		}
		return neutral.Say("{}")
	case a.Is("PreInvocation"):
		return context(a)
	case a.Denies():
		return decide("deny", a.Reason())
	case a.Asks():
		return decide("force_ask", a.Reason())
	}
	return neutral.Say("", neutral.Str("decision", "allow"))
}

func decide(word, reason string) neutral.Reply {
	return neutral.Say("", neutral.Str("decision", word), neutral.Str("reason", reason))
}

func context(a neutral.Asked) neutral.Reply {
	if a.Verdict.AdditionalContext == "" {
		return neutral.Say("{}")
	}
	step := events.With(nil, neutral.Str("ephemeralMessage", a.Verdict.AdditionalContext))
	return neutral.Say("", neutral.Raw("injectSteps", slices.Concat(json.RawMessage("["), step, json.RawMessage("]"))))
}
