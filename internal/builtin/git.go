package builtin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// maxGitOutput is how much of git's output reaches the model, in bytes (seed 004).
const maxGitOutput = 4096

const truncated = "\n... (truncated)"

// git runs git in the call's directory and returns its output, trimmed and
// cut. It is empty where there is nothing to say: no directory, no repository,
// no git. It never takes the repository's locks, so it writes nothing there.
func (c *Call) git(ctx context.Context, args ...string) string {
	if c.Cwd == "" {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", c.Cwd}, args...)...)
	cmd.Env = c.gitEnviron()
	cmd.WaitDelay = time.Second
	out := head{limit: 4 * maxGitOutput}
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && out.Len() < out.limit {
		var exit *exec.ExitError
		if !errors.As(err, &exit) && !errors.Is(err, exec.ErrNotFound) { // no repository, no git: nothing to say
			c.log("git "+args[0], err)
		}
		return ""
	}
	return capped(strings.TrimSpace(strings.ToValidUTF8(out.String(), "\uFFFD")), maxGitOutput)
}

// gitEnviron is the environment of git: the hook's own, without a terminal,
// a pager or optional locks.
func (c *Call) gitEnviron() []string {
	env := c.Environ
	if env == nil {
		env = os.Environ()
	}
	return append(env[:len(env):len(env)], "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C.UTF-8")
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
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + truncated
}

// errFull ends a process whose output nobody needs any more.
var errFull = errors.New("enough output")

// head keeps the first limit bytes that are written to it.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	room := h.limit - h.Len()
	if len(p) > room {
		h.Buffer.Write(p[:room])
		return room, errFull
	}
	return h.Buffer.Write(p)
}
