package builtin

import (
	"context"
	"slices"
)

var addGitDiff = Builtin{
	Name: "add_git_diff", Events: []string{"turn_start"},
	Args: "none for git diff --stat, or full for the whole diff",
	Doc:  "tells the model what changed in the working tree, at most 4 KB; nothing when it is clean",
	Run:  gitDiff,
}

// gitDiff never runs the repository's external diff programs.
func gitDiff(ctx context.Context, c *Invocation) ([]byte, error) {
	if slices.Equal(c.Args, []string{"full"}) {
		return contextText(titled("Current working-tree diff:", c.git(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")))
	}
	return contextText(titled("Current working-tree diff (stat):", c.git(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--stat")))
}
