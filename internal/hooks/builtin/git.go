package builtin

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/git"
)

// maxGitOutput is how much of git's output reaches the model, in bytes, as in docker-agent.
const maxGitOutput = 4096

const truncated = "\n... (truncated)"

// git runs git in the call's directory and returns its output, trimmed and
// cut. It is empty where there is nothing to say: no directory, no repository,
// no git. Nothing that the repository configures is executed, see package git.
func (c *Invocation) git(ctx context.Context, args ...string) string {
	repo, err := git.Open(ctx, c.Cwd, c.Environ)
	if err != nil {
		c.logGit(args[0], err)
		return ""
	}
	out, err := repo.Output(ctx, 4*maxGitOutput, args...)
	if err != nil && !errors.Is(err, git.ErrMuch) {
		c.logGit(args[0], err)
		return ""
	}
	return capped(strings.TrimSpace(strings.ToValidUTF8(string(out), "\uFFFD")), maxGitOutput)
}

// logGit leaves out errors that only mean that there is nothing to say: no
// repository, no git, no commit.
func (c *Invocation) logGit(command string, err error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, git.ErrNoRepository) {
		c.log("git "+command, err)
	}
}

// titled returns title, a blank line and text; nothing without text.
func titled(title, text string) string {
	if text == "" {
		return ""
	}
	return title + "\n\n" + text
}

// capped cuts text to limit bytes, on the border of a character.
func capped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return escape.Head(text, limit) + truncated
}
