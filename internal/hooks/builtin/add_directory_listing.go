package builtin

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// maxEntries is how many entries add_directory_listing shows, as in docker-agent.
const maxEntries = 100

var addDirectoryListing = Builtin{
	Name: "add_directory_listing", Events: []string{"session_start"},
	Doc: "tells the model the top-level entries of the working directory, without names that begin with a dot",
	Run: directoryListing,
}

func directoryListing(_ context.Context, c *Invocation) ([]byte, error) {
	if c.Cwd == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(c.Cwd) // in byte order of the names
	if err != nil {
		c.log("list working directory", err)
		return nil, nil
	}
	var lines []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		lines = append(lines, "- "+name)
	}
	if more := len(lines) - maxEntries; more > 0 {
		lines = append(lines[:maxEntries], fmt.Sprintf("... and %d more", more))
	}
	return contextText(titled("Top-level entries in "+c.Cwd+":", strings.Join(lines, "\n")))
}
