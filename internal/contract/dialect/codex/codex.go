// Package codex speaks OpenAI Codex's dialect. It is pure. Codex refuses an answer with
// a word that it does not know, and then the tool runs, so each answer holds only
// members that its event takes. "No opinion" is an empty stdout.
package codex

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Codex, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", Probes: probes, MCPTool: "mcp__hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{neutral.BackCall: neutral.Untold, neutral.LineCall: neutral.Lacked},
		Unreported: map[neutral.CallKind]string{
			neutral.SearchCall: "its web search runs where its model does, and Codex calls no hook for it",
		},
	}
}

// commands is its shell's line around a command, as seen in 0.171.
var commands = neutral.Lazy(
	`(?s)^__CODEX_SNAPSHOT_OVERRIDE_.*\nexec '[^\n']*' -l?c '(.*)'$`)

// Agent is Codex. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Commands: commands,
		Table:    Table(), EventField: "hook_event_name", Timeout: timeout, Asks: "PermissionRequest",
		Noted: noted, ShowsRun: true, OwnRule: ownRule,
		ResultField: "tool_response", Replaces: neutral.On("PostToolUse"), Answer: Answer,
	}
}

// exitCode is the member that the bridge adds: the exit code of a command.
const exitCode = "exit_code"

// noted finds the exit code of a command in the conversation's file, where Codex 0.171 notes it before it
// calls the hooks.
func noted(event string, payload json.RawMessage) (file string, code func(line []byte) json.RawMessage) {
	tool := rawjson.StringIn(payload, "tool_name")
	call := rawjson.StringIn(payload, "tool_use_id")
	if event != "PostToolUse" || tool != neutral.Shell || call == "" || rawjson.Get(payload, exitCode) != nil {
		return "", nil
	}
	file = rawjson.StringIn(payload, "transcript_path")
	return file, func(line []byte) json.RawMessage {
		if !bytes.Contains(line, []byte(`"CommandExecution"`)) || !json.Valid(line) {
			return nil
		}
		item := rawjson.Get(rawjson.Get(line, "payload"), "item")
		if id := rawjson.StringIn(item, "id"); rawjson.StringIn(item, "type") != "CommandExecution" || id != call {
			return nil
		}
		if n, err := strconv.Atoi(string(rawjson.Get(item, exitCode))); err == nil {
			return json.RawMessage(strconv.Itoa(n))
		}
		return nil
	}
}

// timeout is Codex's default (A2).
func timeout(event string) time.Duration {
	switch event {
	case "SessionEnd", "Interrupt":
		return time.Second
	}
	return 600 * time.Second
}
