package builtin

import "context"

var addGitStatus = Builtin{
	Name: "add_git_status", Events: []string{"turn_start"},
	Doc: "tells the model what git status --short --branch says; nothing outside a repository",
	Run: func(ctx context.Context, c *Invocation) ([]byte, error) {
		return contextText(titled("Current git status:", c.git(ctx, "status", "--short", "--branch", "--ignore-submodules=all")))
	},
}
