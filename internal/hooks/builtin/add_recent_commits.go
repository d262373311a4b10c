package builtin

import (
	"context"
	"strconv"
)

// defaultCommits is how many commits add_recent_commits shows, as in docker-agent.
const defaultCommits = 10

var addRecentCommits = Builtin{
	Name: "add_recent_commits", Events: []string{"session_start"},
	Args: "none, or how many commits (10)",
	Doc:  "tells the model the latest commits, one line each",
	Run: func(ctx context.Context, c *Invocation) ([]byte, error) {
		n := defaultCommits
		if len(c.Args) > 0 {
			if given, err := strconv.Atoi(c.Args[0]); err == nil && given > 0 {
				n = given
			}
		}
		commits := c.git(ctx, "log", "--no-color", "--oneline", "-n", strconv.Itoa(n))
		return contextText(titled("Recent commits:", commits))
	},
}
