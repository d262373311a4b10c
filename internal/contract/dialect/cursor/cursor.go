// Package cursor speaks Cursor's dialect. It is
// pure. Cursor wants JSON on every event, so "no opinion" is {}. For one shell
// or MCP call it sends two events, which Pair ties together: the first can
// rewrite, the second can ask a person.
package cursor

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Cursor, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Guest: guest(), Probe: "beforeShellExecution", Probes: []neutral.Probe{
			{Kind: neutral.WriteCall, Event: "preToolUse"},
			{Kind: neutral.ReadCall, Event: "beforeReadFile"},
			{Kind: neutral.MCPCall, Event: "beforeMCPExecution"},
		}, MCPTool: "MCP:probe",
		Ways: map[neutral.CallKind]string{neutral.InsideCall: neutral.Untold},
	}
}

// Agent is Cursor. Its default deadline is not documented: 60 s is taken.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks: shellOrMCP, Defers: defers, Pair: Pair,
		DenyExit: 2, ResultField: "tool_output", Replaces: replaces, Answer: Answer,
	}
}

// replaces: only the result of an MCP tool can be another.
func replaces(event string, payload json.RawMessage) bool {
	return event == "postToolUse" && strings.HasPrefix(rawjson.StringIn(payload, "tool_name"), mcpPrefix)
}

// defers: after preToolUse of a shell or MCP call Cursor asks again, with an
// event on which it can ask a person.
func defers(event string, payload json.RawMessage) bool {
	name := rawjson.StringIn(payload, "tool_name")
	return event == "preToolUse" && (name == "Shell" || strings.HasPrefix(name, mcpPrefix))
}

// Pair names the call of an event that comes twice: by the turn, the tool and its
// input, since the second event has no id of the call. It tells preToolUse and
// postToolUse, which come first, from the others.
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
	own := rawjson.StringIn(payload, "tool_name")
	var what string
	switch tool := f.String(neutral.Tool); {
	case tool == "Bash":
		what = rawjson.StringIn(f[neutral.Input], "command")
	case strings.HasPrefix(own, mcpPrefix):
		what = own + "\x00" + string(sorted(f[neutral.Input]))
	}
	turn := f.String(neutral.Turn)
	if what == "" || turn == "" {
		return "", false
	}
	isSecond := event != "preToolUse" && event != "postToolUse"
	return strings.Join([]string{phase, f.String(neutral.Session), turn, what}, "\x00"), isSecond
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
