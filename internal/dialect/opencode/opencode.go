// Package opencode reads the dialect of OpenCode's plugins, as hookd's own
// plugin sends it (reference/dialects.md A7). It is pure. There is no answer to
// write: the plugin takes the verdict as it is (internal/bridge/shims).
package opencode

import "github.com/hookd/hookd/internal/dialect/neutral"

// Agent is OpenCode, which the bridge cannot stand for.
func Agent() neutral.Agent { return neutral.Agent{Table: Table()} }

// Table says where its payloads hold what. The names of MCP tools are
// SERVER_TOOL, from which the server cannot be told.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.Row{
			{Field: "sessionID", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "agent", Fact: neutral.AgentName},
			{Field: "tool", Fact: neutral.Tool},
			{Field: "args", Fact: neutral.Input},
			{Field: "callID", Fact: neutral.Call},
			{Field: "output", Fact: neutral.Result},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "error.data.message", Fact: neutral.ErrorText},
			{Field: "error.name", Fact: neutral.ErrorType},
			{Field: "file", Fact: neutral.File},
		},
		Tools: []neutral.ToolName{
			{Own: "bash", Canonical: "Bash"},
			{Own: "read", Canonical: "Read", Args: "filePath=file_path"},
			{Own: "write", Canonical: "Write", Args: "filePath=file_path"},
			{Own: "edit", Canonical: "Edit", Args: "filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all"},
			{Own: "multiedit", Canonical: "Edit", Args: "filePath=file_path", OneWay: true},
			{Own: "patch", Canonical: "Edit", OneWay: true},
			{Own: "apply_patch", Canonical: "Edit", OneWay: true},
			{Own: "glob", Canonical: "Glob"},
			{Own: "grep", Canonical: "Grep", Args: "include=glob"},
			{Own: "list", Canonical: "LS"},
			{Own: "webfetch", Canonical: "WebFetch"},
			{Own: "websearch", Canonical: "WebSearch"},
			{Own: "task", Canonical: "Agent"},
			{Own: "todowrite", Canonical: "TodoWrite"},
			{Own: "question", Canonical: "AskUserQuestion"},
		},
	}
}
