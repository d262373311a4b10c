// Package claudecode speaks Claude Code's dialect: which facts its payloads hold, and
// the bytes that it reads as an answer. The package is pure. "No opinion" is an empty
// stdout; an allow is written only when a hook said so.
package claudecode

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
		Name: events.ClaudeCode, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", Probes: []neutral.Probe{{Kind: neutral.LineCall, Event: "PreSkillShellCommand"}},
		Canonical: true, MCPTool: "mcp__hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{neutral.BackCall: "run_in_background=true"},
	}
}

// commands is its shell's line around a command, as seen in 2.1.332.
var commands = neutral.Lazy(
	`(?s)shopt -u extglob .* eval '(.*)' (?:\\?< /dev/null )?&& pwd -P >\|`)

// Agent is Claude Code.
func Agent() neutral.Agent {
	return neutral.Agent{
		Commands: commands,
		Table:    Table(), EventField: "hook_event_name", Timeout: timeout,
		Asks: "PreToolUse PermissionRequest PreModelSwitch", ResultField: "tool_response", Replaces: neutral.On("PostToolUse"),
		DenyExit: 2, ShowsRun: true, Answer: form.Answer, Headless: headless, Unattended: unattended, OwnRule: ownRule,
		OwnPrompt: ownPrompt,
	}
}

// ownPrompt: once a subagent in the background has ended, Claude Code submits a note of that as a prompt.
func ownPrompt(payload json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(rawjson.StringIn(payload, "prompt")), "<task-notification>")
}

// headless: `claude -p` and the SDKs say so in this variable, as seen in 2.1.197.
func headless(getenv func(string) string) bool {
	return strings.HasPrefix(getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk-")
}

// unattended: `claude -p` denies a call that a hook asks about, as seen in 2.1.197. Programs that use
// an SDK may ask a person of theirs.
func unattended(getenv func(string) string) bool {
	return getenv("CLAUDE_CODE_ENTRYPOINT") == "sdk-cli"
}

// timeout is Claude Code's default (A1).
func timeout(event string) time.Duration {
	switch event {
	case "UserPromptSubmit":
		return 30 * time.Second
	case "MessageDisplay":
		return 10 * time.Second
	case "SessionEnd":
		return 1500 * time.Millisecond
	}
	return 600 * time.Second
}
