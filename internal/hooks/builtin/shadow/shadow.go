package shadow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// ErrNotRepository says that there is nothing to take snapshots of: the
// directory is in no git working tree, or there is no git program.
var ErrNotRepository = errors.New("not a git working tree")

// Repo is the shadow of one working tree. Linked worktrees have one each. It
// may be used by several goroutines and processes at once.
type Repo struct {
	Root string // the working tree's top directory, without symbolic links

	dir     string   // the shadow's directory
	data    string   // hookd's data directory, without symbolic links
	exclude string   // the source's info/exclude
	global  string   // the source's core.excludesFile; "" = none
	env     []string // of every git process on the shadow
	source  *git.Repo
	config  []string // the shadow's settings as arguments
}

// Open finds the working tree that cwd is in, and its shadow below dataDir,
// which is made by the first capture. environ is the environment of git, nil
// the process's own. The error is ErrNotRepository where there is none.
func Open(ctx context.Context, dataDir, cwd string, environ []string) (*Repo, error) {
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return nil, err
	}
	source, err := git.Open(ctx, cwd, environ)
	if err != nil {
		return nil, notRepository(ctx, err)
	}
	r := &Repo{Root: cwd, env: clean(environ), source: source}
	out, err := r.ask(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "info/exclude")
	if err != nil {
		return nil, notRepository(ctx, err)
	}
	top, exclude, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if !ok || !filepath.IsAbs(top) {
		return nil, ErrNotRepository
	}
	if r.Root, err = filepath.EvalSymlinks(top); err != nil {
		return nil, fmt.Errorf("find working tree: %w", err)
	}
	source.Dir = r.Root
	if r.data, err = realPath(dataDir); err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	sum := sha256.Sum256([]byte(r.Root))
	r.dir, r.exclude = filepath.Join(r.data, "snapshots", hex.EncodeToString(sum[:16])), exclude
	return r, r.readConfig(ctx)
}

// notRepository tells git's answer "no" from a git that could not be asked.
func notRepository(ctx context.Context, err error) error {
	var exit *exec.ExitError
	isNo := errors.As(err, &exit) || errors.Is(err, errNoGit) ||
		errors.Is(err, git.ErrNoRepository) || errors.Is(err, os.ErrNotExist)
	if ctx.Err() == nil && isNo {
		return ErrNotRepository
	}
	return fmt.Errorf("find working tree: %w", err)
}

// realPath resolves the symbolic links of a path whose end need not exist.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, os.ErrNotExist) && abs != filepath.Dir(abs) {
		parent, err := realPath(filepath.Dir(abs))
		return filepath.Join(parent, filepath.Base(abs)), err
	}
	return real, err
}

// readConfig takes over the source's settings about its file system, and the
// user's file of ignore rules for all repositories.
func (r *Repo) readConfig(ctx context.Context) error {
	for _, s := range settings {
		r.config = append(r.config, "-c", s)
	}
	out, err := r.ask(ctx, "config", "--null", "--type=path", "--get-regexp", `^core\.(excludesfile|ignorecase|filemode|symlinks|precomposeunicode)$`)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: no such setting
		return err
	}
	r.global = r.defaultExcludes()
	for _, line := range fields(out) {
		name, value, ok := strings.Cut(line, "\n")
		if !ok {
			value = "true"
		}
		if name == "core.excludesfile" {
			r.global = value
			continue
		}
		r.config = append(r.config, "-c", name+"="+value)
	}
	if r.global != "" && !filepath.IsAbs(r.global) {
		r.global = filepath.Join(r.Root, r.global)
	}
	return nil
}

// defaultExcludes is where git looks without core.excludesFile (gitignore(5)).
func (r *Repo) defaultExcludes() string {
	if dir := r.getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := r.getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}

func (r *Repo) getenv(name string) (value string) {
	for _, v := range r.env {
		if after, ok := strings.CutPrefix(v, name+"="); ok {
			value = after
		}
	}
	return value
}

// GitDir is the shadow's git directory, for people who want to look inside
// with git --git-dir. It need not exist yet.
func (r *Repo) GitDir() string { return filepath.Join(r.dir, "git") }

func (r *Repo) index() string { return filepath.Join(r.dir, "index") }

// prepare makes the shadow if there is none, and mirrors the ignore rules.
func (r *Repo) prepare(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(r.GitDir(), "HEAD")); err != nil {
		env := append(r.env[:len(r.env):len(r.env)],
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DEFAULT_HASH=sha1")
		c := command{dir: r.Root, env: env}
		if _, err := c.run(ctx, "init", "--quiet", "--bare", "--template=", r.GitDir()); err != nil {
			return err
		}
	}
	info := filepath.Join(r.GitDir(), "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	// no filter, no conversion: bytes in, the same bytes out
	attributes := []byte("* -text -filter -ident -working-tree-encoding !eol\n")
	if err := mirror(filepath.Join(info, "attributes"), attributes); err != nil {
		return err
	}
	rules, err := r.rules()
	if err != nil {
		return err
	}
	return mirror(filepath.Join(info, "exclude"), rules)
}

// mirror makes text the content of a file, and writes only where the file differs.
func mirror(path string, text []byte) error {
	if was, err := readfile.Read(path, len(text)); err == nil && bytes.Equal(was, text) {
		return nil
	}
	return replacefile.Write(path, text)
}

// rules are the source's ignore rules that no .gitignore holds, weakest first.
func (r *Repo) rules() ([]byte, error) {
	var all []byte
	for _, path := range []string{r.global, r.exclude} {
		if path == "" {
			continue
		}
		text, err := readfile.Read(path, readfile.Limit)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !isNotDir(err) {
			return nil, fmt.Errorf("read ignore rules: %w", err)
		}
		all = append(append(all, text...), '\n')
	}
	if inner, ok := strings.CutPrefix(r.data, r.Root+"/"); ok {
		all = append(all, "/"+literal.Replace(inner)+"/\n"...)
	}
	return all, nil
}

// literal writes a path as a pattern that matches only itself.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `)
