package cline

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the program has a list of the names in its payloads.
var ships = neutral.Shipped{
	Files:   []string{".", "../cli-*/bin/cline", "node_modules/@cline/cli-*/bin/cline"},
	Passage: `\["agent_start","agent_resume"(?:,"[a-z_]+")+\]`,
	Row: func(name string) string {
		if row := fileEvent(name); row != "" {
			return row
		}
		return name
	},
	Elsewhere: "Notification", // of its extension alone
}

// fileEvent returns the event of a hook's file by the name that its payload has; "" = there
// is no such file.
func fileEvent(name string) string {
	switch name {
	case "agent_start":
		return "TaskStart"
	case "agent_resume":
		return "TaskResume"
	case "agent_abort":
		return "TaskCancel"
	case "agent_end":
		return "TaskComplete"
	case "agent_error":
		return "TaskError"
	case "tool_call":
		return "PreToolUse"
	case "tool_result":
		return "PostToolUse"
	case "prompt_submit":
		return "UserPromptSubmit"
	case "pre_compact":
		return "PreCompact"
	case "session_shutdown":
		return "SessionShutdown"
	}
	return ""
}
