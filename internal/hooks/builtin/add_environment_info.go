package builtin

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var addEnvironmentInfo = Builtin{
	Name: "add_environment_info", Events: []string{"session_start"},
	Doc: "tells the model the working directory, whether it is in a git repository, the system, the processor and the shell",
	Run: environmentInfo,
}

func environmentInfo(_ context.Context, c *Invocation) ([]byte, error) {
	if c.Cwd == "" {
		return nil, nil
	}
	repo := "No"
	if inRepository(c.Cwd) {
		repo = "Yes"
	}
	shell := cmp.Or(c.getenv("SHELL"), "/bin/sh")
	return contextText(strings.Join([]string{
		"Here is useful information about the environment you are running in:",
		"\t<env>",
		"\tWorking directory: " + c.Cwd,
		"\tIs directory a git repo: " + repo,
		"\tOperating System: " + systemName(runtime.GOOS),
		"\tCPU Architecture: " + architecture(runtime.GOARCH),
		"\tShell: " + filepath.Base(shell) + " (" + shell + ")",
		"\t</env>",
	}, "\n"))
}

// inRepository walks up from dir to a .git directory. Unlike docker-agent's it
// also counts a .git file: a linked worktree has such a file.
func inRepository(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

func systemName(goos string) string {
	switch goos {
	case "linux":
		return "Linux"
	case "darwin":
		return "MacOS"
	case "windows":
		return "Windows"
	}
	return goos
}

func architecture(goarch string) string {
	if goarch == "amd64" {
		return "x64"
	}
	return goarch
}
