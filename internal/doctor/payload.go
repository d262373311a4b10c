package doctor

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Session is the session that a probe says it belongs to, by which hooks and
// people can tell it from a real event.
const Session = "hookd-doctor"

// probeOf is a tool call of `true` in a shell as the agent would tell it, in
// the shape of its real payloads (docs/agents.md says how sure we are of each).
// LibreFang has no event before a call: there it is a tool's result.
func probeOf(d events.Dialect, cwd string) (event string, payload json.RawMessage) {
	now := time.Now().UTC()
	common := map[string]any{"session_id": Session, "cwd": cwd}
	input := map[string]any{"command": "true"}
	call := func(name, tool string, more map[string]any) (string, map[string]any) {
		p := map[string]any{"hook_event_name": name, "tool_name": tool, "tool_input": input}
		for _, members := range []map[string]any{common, more} {
			for key, value := range members {
				p[key] = value
			}
		}
		return name, p
	}
	var p map[string]any
	switch d {
	case events.ClaudeCode:
		event, p = call(
			"PreToolUse",
			"Bash",
			map[string]any{"permission_mode": "default", "tool_use_id": "toolu_probe"},
		)
	case events.Codex:
		event, p = call(
			"PreToolUse",
			"Bash",
			map[string]any{"permission_mode": "default", "tool_use_id": "call_probe", "turn_id": Session},
		)
	case events.Kimi:
		event, p = call("PreToolUse", "Bash", map[string]any{"tool_call_id": "call_probe"})
	case events.GeminiCLI:
		event, p = call("BeforeTool", "run_shell_command", map[string]any{"timestamp": now.Format(time.RFC3339)})
	case events.Hermes:
		event, p = call("pre_tool_call", "terminal", map[string]any{"profile": "default", "extra": map[string]any{}})
	case events.DockerAgent:
		event, p = call(
			"pre_tool_use",
			"shell",
			map[string]any{"tool_use_id": "call_probe", "tool_input": map[string]any{"cmd": "true", "cwd": "."}},
		)
	case events.Cursor:
		event, p = "beforeShellExecution", map[string]any{
			"hook_event_name": "beforeShellExecution",
			"conversation_id": Session,
			"generation_id":   Session,
			"workspace_roots": []string{cwd},
			"command":         "true",
			"cwd":             cwd,
		}
	case events.Copilot:
		event, p = "preToolUse", map[string]any{
			"sessionId": Session,
			"timestamp": now.UnixMilli(),
			"cwd":       cwd,
			"toolName":  "bash",
			"toolArgs":  input,
		}
	case events.Windsurf:
		event, p = "pre_run_command", map[string]any{
			"agent_action_name": "pre_run_command",
			"trajectory_id":     Session,
			"execution_id":      Session,
			"timestamp":         now.Format(time.RFC3339),
			"tool_info":         map[string]any{"command_line": "true", "cwd": cwd},
		}
	case events.Cline:
		event, p = "PreToolUse", map[string]any{
			"hookName":       "tool_call",
			"taskId":         Session,
			"timestamp":      now.Format(time.RFC3339),
			"workspaceRoots": []string{cwd},
			"tool_call": map[string]any{
				"id":    "call_probe",
				"name":  "run_commands",
				"input": map[string]any{"commands": []string{"true"}},
			},
			"preToolUse": map[string]any{
				"toolName":   "run_commands",
				"parameters": map[string]any{"commands": `["true"]`},
			},
		}
	case events.Antigravity:
		event, p = "PreToolUse", map[string]any{
			"conversationId": Session,
			"stepIdx":        0,
			"workspacePaths": []string{cwd},
			"toolCall":       map[string]any{"name": "run_command", "args": map[string]any{"CommandLine": "true"}},
		}
	case events.Familiar:
		event, p = "beforeToolCall", map[string]any{
			"agent_name":      Session,
			"conversation_id": Session,
			"workspace":       cwd,
			"timestamp":       now.Format(time.RFC3339),
			"tool_name":       "Bash",
			"tool_args":       input,
			"tool_call_index": 0,
		}
	case events.LibreFang:
		event, p = "transform_tool_result", map[string]any{
			"session_id":  Session,
			"cwd":         cwd,
			"tool_name":   "Bash",
			"tool_output": "hookd-doctor",
		}
	default:
		event, p = beforeTool(
			d,
		), map[string]any{
			"session_id": Session,
			"cwd":        cwd,
			"tool":       "bash",
			"tool_name":  "bash",
			"args":       input,
			"params":     input,
		}
	}
	payload, _ = json.Marshal(p) // strings and numbers
	return event, payload
}

// beforeTool is the name under which the agent asks before a tool call.
func beforeTool(d events.Dialect) string {
	for _, row := range events.OfKind(events.KindToolBefore) {
		if row.Dialect == d {
			return row.Name
		}
	}
	return string(events.KindToolBefore)
}
