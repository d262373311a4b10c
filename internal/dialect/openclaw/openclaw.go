// Package openclaw reads the dialect of OpenClaw's plugin hooks, as hookd's own
// plugin sends it (docs.openclaw.ai, "Plugin hooks"). It is pure. There is no
// answer to write: the plugin takes the verdict as it is (internal/bridge/shims).
package openclaw

import "github.com/hookd/hookd/internal/dialect/neutral"

// Agent is OpenClaw, which the bridge cannot stand for.
func Agent() neutral.Agent { return neutral.Agent{Table: Table()} }

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "sessionKey", Fact: neutral.Session},
			{Field: "runId", Fact: neutral.Turn},
			{Field: "workspaceDir", Fact: neutral.Cwd},
			{Field: "agentId", Fact: neutral.AgentName},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "params", Fact: neutral.Input},
			{Field: "toolCallId", Fact: neutral.Call},
			{Field: "result", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "error", Fact: neutral.ErrorText},
			{Field: "durationMs", Fact: neutral.Took},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "reason", Fact: neutral.Reason, Events: "session_end before_reset"},
		},
		Tools: []neutral.ToolName{
			{Own: "exec", Canonical: "Bash", Args: "workdir=cwd"},
			{Own: "bash", Canonical: "Bash", OneWay: true},
			{Own: "read", Canonical: "Read", Args: "path=file_path"},
			{Own: "write", Canonical: "Write", Args: "path=file_path"},
			{Own: "edit", Canonical: "Edit", Args: "path=file_path oldText=old_string newText=new_string"},
			{Own: "apply_patch", Canonical: "Edit", OneWay: true},
			{Own: "grep", Canonical: "Grep"},
			{Own: "find", Canonical: "Glob"},
			{Own: "ls", Canonical: "LS"},
			{Own: "web_fetch", Canonical: "WebFetch"},
			{Own: "web_search", Canonical: "WebSearch"},
			{Own: "sessions_spawn", Canonical: "Agent", Args: "task=prompt"},
		},
	}
}
