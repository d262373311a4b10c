package goose

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// tools are the agent's names of tools and of the arguments that it executes; older
// versions name them with their extension, newer ones without.
var tools = []neutral.ToolName{
	{Own: "developer__shell", Canonical: "Bash"},
	{Own: "shell", Canonical: "Bash", OneWay: true},
	{Own: "developer__write", Canonical: "Write", Args: "path=file_path"},
	{Own: "write", Canonical: "Write", Args: "path=file_path", OneWay: true},
	{Own: "developer__edit", Canonical: "Edit", Args: "path=file_path before=old_string after=new_string"},
	{Own: "edit", Canonical: "Edit", Args: "path=file_path before=old_string after=new_string", OneWay: true},
	{Own: "developer__text_editor", Canonical: "Edit", Args: "path=file_path old_str=old_string new_str=new_string", OneWay: true},
	{Own: "developer__text_editor", Canonical: "Write", OneWay: true},
	{Own: "developer__tree", Canonical: "LS"},
	{Own: "tree", Canonical: "LS", OneWay: true},
	{Own: "developer__read_image", Canonical: "Read", Args: "source=file_path", OneWay: true},
	{Own: "delegate", Canonical: "Agent", Args: "instructions=prompt", OneWay: true},
	{Own: "subagent", Canonical: "Agent", Args: "instructions=prompt", OneWay: true},
}
