// Package git is the only place where hookd starts git on a working tree that it does
// not trust: a tree that was cloned, unpacked or written by an agent.
//
// It promises: nothing that the tree or its repository configures is executed (file
// system monitors, hooks, filters, diff and signature programs, pagers, credential
// helpers, transports, submodules). It reads only a repository whose .git is in the
// directory or above it, never a bare one, and its working tree is the directory that
// has the .git, whatever its configuration says. The GIT_ variables of the caller are
// ignored. A run ends after Limit, and its output is bounded.
//
// It does not check how git itself treats broken objects, and trusts a program named
// git in hookd's own PATH.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limit is how long a run of git may take.
const Limit = 20 * time.Second

// maxSettings bounds the programs that a repository may name.
const maxSettings = 1000

// ErrNoRepository is the error when no directory at or above has a .git.
var ErrNoRepository = errors.New("not in a git repository")

// inert are settings with which git runs no program of a repository and starts no maintenance.
var inert = []string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "core.pager=cat",
	"core.editor=false", "core.alternateRefsCommand=false", "gc.auto=0", "maintenance.auto=false",
	"submodule.recurse=false",
}

// fixed are the settings of each run in a working tree. They override the settings of the repository.
var fixed = append(slices.Clone(inert),
	"safe.bareRepository=explicit", "sequence.editor=false", "core.askPass=", "core.sshCommand=false",
	"core.gitProxy=false", "credential.helper=", "protocol.allow=never", "log.showSignature=false",
	"gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false",
	"status.submoduleSummary=false", "diff.ignoreSubmodules=all", "diff.submodule=short",
)

// environment of each run. No transport is allowed: git would fetch missing objects
// with programs that the repository names.
var environment = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=none",
	"GIT_NO_LAZY_FETCH=1", "GIT_ASKPASS=false", "LC_ALL=C.UTF-8",
}

// Clean returns environ (nil = the process's own) without the variables that make git
// use another repository, configuration or program.
func Clean(environ []string) []string {
	if environ == nil {
		environ = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "SSH_ASKPASS=")
	})
}

// Repo is a working tree that git can safely read.
type Repo struct {
	Dir string // where commands run
	Top string // the directory that holds the .git

	env []string
}

// Open finds the repository around dir and the programs that it names. The
// error is ErrNoRepository, or exec.ErrNotFound without git.
func Open(ctx context.Context, dir string, environ []string) (*Repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, err
	}
	top := Top(dir)
	if top == "" {
		return nil, ErrNoRepository
	}
	r := &Repo{Dir: dir, Top: top}
	base := append(Clean(environ), environment...)
	base = append(base, "GIT_WORK_TREE="+top)
	r.env = withSettings(base, fixed)
	out, err := r.Output(ctx, 1<<20, "config", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil && exitCode(err) != 1 { // 1: there are none
		return nil, err
	}
	settings, seen := slices.Clone(fixed), map[string]bool{}
	for _, name := range strings.Split(string(out), "\x00") {
		driver := name[:max(strings.LastIndexByte(name, '.'), 0)]
		if driver == "" || driver == "filter" || seen[driver] {
			continue
		}
		seen[driver] = true
		settings = append(settings, driver+".clean=", driver+".smudge=", driver+".process=", driver+".required=false")
	}
	if len(settings) > maxSettings {
		return nil, fmt.Errorf("the repository %s names %d filters", top, len(seen))
	}
	r.env = withSettings(base, settings)
	return r, nil
}

// Top is the nearest directory at or above dir that has a .git, "" for none.
func Top(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if isGit(filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// isGit reports whether path is a repository, or the file that names one, and not
// just a directory called .git.
func isGit(path string) bool {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(path, "HEAD"))
	}
	return err == nil
}

// withSettings passes settings to git as -c would, but in variables: there a name may
// contain a =.
func withSettings(env, settings []string) []string {
	env = append(env[:len(env):len(env)], fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		at := strings.LastIndexByte(s, '=') // no value has one
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[:at]))
		env = append(env, fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[at+1:]))
	}
	return env
}

// ErrMuch is the error when the output was longer than the limit.
var ErrMuch = errors.New("git has more output than is read")

// Output runs git and returns its first limit bytes, with ErrMuch if there are
// more.
func (r *Repo) Output(ctx context.Context, limit int, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	out, said, err := output(command(ctx, r.Dir, r.env, args...), limit)
	if err != nil && !errors.Is(err, ErrMuch) {
		line, _, _ := strings.Cut(said, "\n")
		err = &Error{args[0], line, err}
	}
	return out, err
}

// command is git with some arguments, which is asked to end when ctx does.
func command(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, env
	// It removes its lock files then, and ends its children.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	return cmd
}

// output runs a command and returns its first limit bytes, with ErrMuch if there are more, and its standard error.
func output(cmd *exec.Cmd, limit int) (_ []byte, said string, err error) {
	out, errs := bounded{limit: limit}, bounded{limit: 4096, drops: true}
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); out.full {
		err = ErrMuch
	}
	return out.Bytes(), strings.TrimSpace(errs.String()), err
}

// Error is a run of git that failed.
type Error struct {
	Command string
	Said    string // the first line of its standard error
	Err     error
}

func (e *Error) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("git %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.Command, e.Err, e.Said)
}

func (e *Error) Unwrap() error { return e.Err }

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// bounded keeps the first limit bytes that are written to it. More are an
// error, or dropped.
type bounded struct {
	bytes.Buffer
	limit       int
	drops, full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	b.full = true
	b.Buffer.Write(p[:room])
	if b.drops {
		return len(p), nil
	}
	return room, ErrMuch
}
