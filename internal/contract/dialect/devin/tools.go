package devin

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes.
var tools = []neutral.ToolName{
	{Own: "exec", Canonical: "Bash"},
	{Own: "write_to_process", Canonical: neutral.Shell, Args: "input=command", OneWay: true},
	{Own: "read", Canonical: "Read", Args: "file_path=file_path path=file_path"},
	{Own: "write", Canonical: "Write", Args: "file_path=file_path path=file_path"},
	{Own: "edit", Canonical: "Edit", Args: "file_path=file_path path=file_path"},
	{Own: "notebook_edit", Canonical: "Edit", Args: "notebook_path=file_path =old_string =new_string", OneWay: true},
	{Own: "notebook_read", Canonical: "Read", Args: "notebook_path=file_path", OneWay: true},
	{Own: "grep", Canonical: "Grep"},
	{Own: "glob", Canonical: "Glob"},
	{Own: "webfetch", Canonical: "WebFetch"},
	{Own: "run_subagent", Canonical: "Agent", Args: "task=prompt profile=subagent_type title=description"},
	{Own: "todo_write", Canonical: "TodoWrite"},
	{Own: "ask_user_question", Canonical: "AskUserQuestion"},
}
