package cline

import "github.com/hookd/hookd/internal/dialect/neutral"

// ships: the program has a list of the names in its payloads.
var ships = neutral.Shipped{
	Files:   []string{".", "../cli-*/bin/cline", "node_modules/@cline/cli-*/bin/cline"},
	Passage: `\["agent_start","agent_resume"(?:,"[a-z_]+")+\]`,
	Row: func(name string) string {
		if row, ok := files[name]; ok {
			return row
		}
		return name
	},
	Elsewhere: "Notification", // of its extension alone
}

// files are the files of hooks by the name that their payload has.
var files = map[string]string{
	"agent_start": "TaskStart", "agent_resume": "TaskResume", "agent_abort": "TaskCancel", "agent_end": "TaskComplete",
	"agent_error": "TaskError", "tool_call": "PreToolUse", "tool_result": "PostToolUse",
	"prompt_submit": "UserPromptSubmit", "pre_compact": "PreCompact", "session_shutdown": "SessionShutdown",
}
