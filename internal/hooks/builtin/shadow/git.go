package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/base/git"
)

// errNoGit says that there is no git program.
var errNoGit = exec.ErrNotFound

// command is one run of git.
type command struct {
	dir   string
	env   []string
	input []byte // standard input; nil = none
	quiet int    // exit code that is an answer too, as of check-ignore; 0 = none
}

// run returns git's standard output.
func (c command) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, bytes.NewReader(c.input)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // git removes its lock files
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && c.quiet != 0 && exit.ExitCode() == c.quiet {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w%s", verb(args), err, said(stderr.String()))
	}
	return out, nil
}

// verb is the git command in args, without the settings before the command.
func verb(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

func said(stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line == "" {
		return ""
	}
	return ": " + line
}

// clean is the environment of git on the shadow.
func clean(environ []string) []string {
	return append(git.Clean(environ), "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
}

// maxListing bounds git's list of the source's files.
const maxListing = 256 << 20

// ask runs git on the source, in a way that writes nothing there and starts
// none of its programs.
func (r *Repo) ask(ctx context.Context, args ...string) ([]byte, error) {
	return r.source.Output(ctx, maxListing, args...)
}

// settings of the shadow: no program of the user's runs, and no setting of the
// user's changes the stored bytes.
var settings = []string{
	"core.bare=false", "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false",
	"core.autocrlf=false", "core.safecrlf=false", "core.quotePath=false", "core.splitIndex=false",
	"core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.logAllRefUpdates=false",
	"core.protectNTFS=false", "core.protectHFS=false", // trees are only used here, by way of os.Root
	"gc.autoDetach=false", "gc.pruneExpire=1.day.ago",
}

// git runs git on the shadow.
func (r *Repo) git(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return r.shadowCommand(input).run(ctx, append(r.config[:len(r.config):len(r.config)], args...)...)
}

func (r *Repo) shadowCommand(input []byte) command {
	env := append(r.env[:len(r.env):len(r.env)],
		"GIT_DIR="+r.GitDir(), "GIT_WORK_TREE="+r.Root, "GIT_INDEX_FILE="+r.index(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DEFAULT_HASH=sha1")
	return command{dir: r.Root, env: env, input: input}
}

// fields splits NUL-terminated output.
func fields(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// joined is the opposite of fields.
func joined(list []string) []byte {
	if len(list) == 0 {
		return nil
	}
	return []byte(strings.Join(list, "\x00") + "\x00")
}
