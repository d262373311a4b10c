package transcripts

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// agent is where an agent's transcripts lie, and how one is read.
type agent struct {
	name    events.Dialect
	title   string // as people call it
	prompts Prompts
	roots   func(p places) []string // folders that are looked through; those that are not there are left out
	is      func(file string) bool  // whether a file below a root is a transcript
	depth   int                     // of folders below a root
	read    func(ctx context.Context, f *File, c *collector) error
}

// agents are the agents whose transcripts are read.
var agents = []*agent{
	&claudeCode, &codex, &geminiCLI, &qwenCode, &openCode, &copilot, &cline, &pi, &kimi, &openClaw, &crush, &goose,
	&droid,
}

// unread are agents whose transcripts are not read, and where they lie in the home.
var unread = []struct{ title, place string }{
	{"Cursor", ".cursor/projects"}, {"Hermes", ".hermes/state.db"}, {"Amp", ".local/share/amp/threads"},
}

// PromptsOf says how well an agent's transcripts tell when a person was asked.
func PromptsOf(name events.Dialect) Prompts {
	if a := find(name); a != nil {
		return a.prompts
	}
	return Unknown
}

// Title returns how people call an agent.
func Title(name events.Dialect) string {
	if a := find(name); a != nil {
		return a.title
	}
	return string(name)
}

func find(name events.Dialect) *agent {
	if i := slices.IndexFunc(agents, func(a *agent) bool { return a.name == name }); i >= 0 {
		return agents[i]
	}
	return nil
}

// Agents are the names of the agents whose transcripts are read.
func Agents() (names []events.Dialect) {
	for _, a := range agents {
		names = append(names, a.name)
	}
	return names
}

// places has the values that say where agents keep their files.
type places struct {
	home string
	env  func(string) string
}

// own returns a folder below the one of an agent's settings.
func (p places) own(agent events.Dialect, parts ...string) string {
	settings := dialect.Settings(agent)
	base := settings.Folder(p.home, p.env)
	if !filepath.IsAbs(base) {
		base = filepath.Join(p.home, settings.Dir)
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// in returns the folder that a variable names, else the folder of the home, and parts below it.
func (p places) in(variable, folder string, parts ...string) string {
	base := p.env(variable)
	if !filepath.IsAbs(base) {
		base = filepath.Join(p.home, folder)
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// Options of finding transcripts.
type Options struct {
	Home  string              // of the person, absolute
	Env   func(string) string // nil = no variables
	Since time.Time           // files that were last written before are left out; zero = none is
}

// Copies are where an agent keeps copies of files that it has changed: Glob is below Folder, {name} stands for the
// name of a file, and {sum} for the first 16 digits of the SHA-256 of its path.
type Copies struct{ Where, Folder, Glob string }

// Copies returns where agents keep copies of files. Env is given.
func (opt Options) Copies() []Copies {
	p := places{opt.Home, opt.Env}
	return []Copies{
		{"a copy of Gemini CLI", p.own("gemini-cli"), "history/*/{name}"},
		{"a copy of Claude Code", p.own("claude-code"), "file-history/*/*{name}*"},
		{"a copy of Claude Code", p.own("claude-code"), "file-history/*/{sum}@v*"},
	}
}

// File is one transcript, or a database of several.
type File struct {
	Agent   events.Dialect
	Path    string
	Size    int64
	Written time.Time // last

	of   *agent
	root string // that it was found below
}

// Found has the files that Find has found, and counts of the others.
type Found struct {
	Files    []*File // the newest first
	Older    int     // files that were last written before Options.Since
	TooLarge int     // files that are not read for their size
	Foreign  int     // files of another user, which are not read
	// Unread are agents, as people call them, that keep something here in a form that is not known well enough.
	Unread []string
}

// Find lists the transcripts of all agents.
func Find(opt Options) (found Found) {
	p := places{opt.Home, opt.Env}
	if p.env == nil {
		p.env = func(string) string { return "" }
	}
	seen := map[string]bool{}
	for _, a := range agents {
		for _, root := range a.roots(p) {
			if real, err := filepath.EvalSymlinks(root); err == nil && !seen[string(a.name)+real] {
				seen[string(a.name)+real] = true
				a.find(real, opt.Since, &found)
			}
		}
	}
	for _, u := range unread {
		if _, err := os.Lstat(filepath.Join(opt.Home, u.place)); err == nil {
			found.Unread = append(found.Unread, u.title)
		}
	}
	slices.SortStableFunc(found.Files, func(x, y *File) int { return y.Written.Compare(x.Written) })
	return found
}

// find adds the transcripts below a root. Links are not followed.
func (a *agent) find(root string, since time.Time, found *Found) {
	before := len(found.Files)
	// A folder that cannot be listed has no transcripts to read.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.IsDir():
			if below := strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator)); below > a.depth {
				return fs.SkipDir
			}
			return nil
		case len(found.Files)-before >= maxFiles:
			return fs.SkipAll
		case !d.Type().IsRegular() || !a.is(path):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		f := &File{Agent: a.name, Path: path, Size: info.Size(), Written: info.ModTime(), of: a, root: root}
		if w := walOf(path, a); w != nil && w.ModTime().After(f.Written) {
			f.Written = w.ModTime()
		}
		switch {
		case f.Written.Before(since):
			found.Older++
		case !mine(info):
			found.Foreign++
		case f.Size > maxFile:
			found.TooLarge++
		default:
			found.Files = append(found.Files, f)
		}
		return nil
	})
}

// walOf is the log beside a database; nil = the file is none, or has none.
func walOf(path string, a *agent) os.FileInfo {
	if !isDatabase(path) {
		return nil
	}
	info, err := os.Lstat(path + "-wal")
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// Stats say how much of a transcript was read.
type Stats struct {
	Calls   int
	Skipped int  // lines and calls that could not be read, or are over a limit
	Whole   bool // it was read to its end
}

// Read gives each call of a transcript to each, in the order in which they ended, calls without a
// result last. The Call is each's to keep. Calls that ended before since are left out. When ctx
// ends, the calls that were read so far were given. An error means that the file could not be read on.
func (f *File) Read(ctx context.Context, since time.Time, each func(*Call)) (stats Stats, err error) {
	c := &collector{file: f, since: since, until: time.Now().Add(clockError), each: each, pending: map[string]*Call{}}
	defer func() {
		if p := recover(); p != nil { // a hostile file costs its own calls alone
			c.skipped++
		}
		c.end()
		stats.Calls, stats.Skipped = c.calls, c.skipped
	}()
	err = f.of.read(ctx, f, c)
	stats.Whole = err == nil && ctx.Err() == nil
	return stats, err
}
