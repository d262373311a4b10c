// Package cline speaks Cline's dialect: that of its extension, and that of its
// command line since version 3, which sends the same objects and the whole call
// beside them. It is pure. Every answer is an object with cancel; "no opinion"
// does not cancel.
package cline

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Cline, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", Probes: probes, MCPTool: "hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{neutral.BackCall: neutral.Lacked, neutral.LineCall: neutral.Lacked},
	}
}

// eventWords are the names that the command line gives events; its files for
// them are named as the rows are.
const eventWords = "agent_start=TaskStart agent_resume=TaskResume agent_abort=TaskCancel agent_end=TaskComplete " +
	"agent_error=TaskError prompt_submit=UserPromptSubmit pre_compact=PreCompact tool_call=PreToolUse tool_result=PostToolUse " +
	"session_shutdown=SessionShutdown"

// Agent is Cline.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hookName", EventWords: eventWords, Timeout: neutral.Always(30 * time.Second),
		Foreign: true, ShowsRun: true,
		Completed: func(own string, change json.RawMessage) json.RawMessage {
			if own == runCommands {
				return completed(change)
			}
			table := &neutral.Table{Tools: tools}
			change = table.WithFiles(own, table.Args(own, change, &neutral.Table{}, ""))
			if own == editor {
				return oneText(change)
			}
			return change
		},
		Answer: Answer,
	}
}
