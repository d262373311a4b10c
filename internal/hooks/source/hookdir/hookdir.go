// Package hookdir reads one hook folder: its HOOK.yaml becomes one hook, or a list of
// problems that name file, line and column. A hook with a problem that is not a
// warning is rejected, never half read. One table (schema.go) has all keys;
// validation, near matches and the documentation come from it.
//
// Reading runs nothing and does not block on pipes or devices: only regular files of
// bounded size are opened. Package discovery finds and watches folders and retains
// last good versions.
package hookdir

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/hooks/hook"
)

const (
	// FileName is the file that makes a folder a hook.
	FileName = "HOOK.yaml"
	// SourceType is the hook.Source type of hooks read from a folder.
	SourceType = "hooks_dir"
	// MaxFileSize is the largest HOOK.yaml that is read, in bytes.
	MaxFileSize = 1 << 20
)

// Options of reading a folder. The zero value reads with the process's own
// environment, PATH and home.
type Options struct {
	Strict      bool                        // unknown keys reject the hook
	KnownEvents []string                    // to warn of misspelt names; nil = no such warning
	Env         func(string) (string, bool) // to warn of ${env.X} that is not set; nil = os.LookupEnv
	Path        string                      // directories for commands without a slash; "" = $PATH
	Home        string                      // what ~/ means; "" = the user's home
	Timeouts    map[hook.Type]time.Duration // default deadline by type; absent or 0 = hook.DefaultTimeout
	Shell       string                      // runs `script:`; "" = /bin/sh

	Builtins   []string               // names of the built-ins; nil = not checked
	CheckModel func(*hook.Hook) error // returns what is wrong with a model hook; nil = not checked

	// KnownTools returns the tools of the agents whose events a pattern matches, own and
	// canonical names, to warn of a matcher that does not fit them; nil = no such warning.
	KnownTools func(event pattern.Pattern) []AgentTools

	// CheckGuard returns why a built-in has nothing to do on an event that the hook
	// names; "" = it has. nil = not checked.
	CheckGuard func(h *hook.Hook, event pattern.Pattern) string

	// RunAs returns the user of that name, or why no hook runs as it; nil = no hook runs as
	// another user than the daemon's.
	RunAs func(name string) (*hook.Account, error)

	// RulesDir has folders of rules that a user adds to hooks: each is called as its hook;
	// "" = there is none.
	RulesDir string

	Layer   hook.Layer // of the hook
	Prefix  string     // before its name, such as team/
	Project string     // see hook.Hook.Project

	// Blind looks at no file besides HOOK.yaml, which may hang: nothing is said about
	// the command, which is not looked up in PATH, and nothing about working_dir.
	Blind bool

	// Readings has hooks that were read with the same options a moment ago; nil = none.
	Readings *Readings

	// Content returns a file of a hook's folder that need not be read from the disk, by its
	// absolute path; false = it is not known. nil = none is.
	Content func(path string) (File, bool)

	once *once // nil = of one folder
}

// File is a file of a hook's folder, as it is or comes to be on the disk.
type File struct {
	Data []byte
	Exec bool // its owner may execute it
}

// Once returns Options for one scan of many folders: the things that they share are looked at once.
func (o Options) Once() Options {
	o.once = new(once)
	return o
}

// Read reads the hook of the folder dir. The hook is nil when it is rejected; then at
// least one problem is no warning. Problems are in the order of the file.
func Read(dir string, opt Options) (*hook.Hook, []hook.Problem) {
	if known, found := opt.Readings.take(dir, opt); found {
		return known.Hook, known.Problems
	}
	d := newDraft(dir, opt.withDefaults())
	definition := d.load()
	if definition == nil {
		return nil, d.problems
	}
	return d.read(definition)
}

// ReadText is Read for an earlier HOOK.yaml of the folder dir.
func ReadText(dir string, definition []byte, opt Options) (*hook.Hook, []hook.Problem) {
	return newDraft(dir, opt.withDefaults()).read(definition)
}

func (d *draft) read(definition []byte) (*hook.Hook, []hook.Problem) {
	if root := d.parse(definition); root != nil {
		d.mapping(root, "")
		checks{d}.finish(root)
	}
	slices.SortStableFunc(d.problems, byPosition)
	if d.rejected() {
		return nil, d.problems
	}
	h := d.hook
	h.Problems, h.Text = d.problems, definition
	sum := sha256.Sum256(definition)
	h.Sum = hex.EncodeToString(sum[:])
	return h, d.problems
}

// Files returns the files whose creation, removal or change can alter the result of
// Read for the folder. A nil hook stands for a rejected one.
func Files(dir string, h *hook.Hook) []string {
	if h == nil {
		return []string{filepath.Join(dir, FileName)}
	}
	files := []string{h.File}
	if h.Type == hook.Command {
		// A file of that name in the folder wins over one in PATH.
		for _, name := range []string{h.Command, firstWord(h.Command)} {
			if name != "" && !strings.Contains(name, "/") {
				files = append(files, filepath.Join(dir, name))
			}
		}
		files = append(files, h.Path)
	}
	if h.WorkingDir != "" {
		files = append(files, h.WorkingDir)
	}
	if h.Rules != nil {
		files = append(files, h.Rules.Absent...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, ~/ stays and is reported as missing
	}
	if o.Shell == "" {
		o.Shell = "/bin/sh"
	}
	if o.Content == nil {
		o.Content = func(string) (f File, known bool) { return f, false }
	}
	if o.once == nil {
		o.once = new(once)
	}
	return o
}

func (o Options) timeout(t hook.Type) time.Duration {
	if limit := o.Timeouts[t]; limit > 0 {
		return limit
	}
	return hook.DefaultTimeout
}

// home replaces a leading ~/ by the home directory.
func (o Options) home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && o.Home != "" {
		return filepath.Join(o.Home, rest)
	}
	return path
}
