package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// facts returns the reader of calls that rules and conditions share.
func (d *Daemon) facts() *facts.Reader {
	home, err := os.UserHomeDir()
	if err != nil {
		d.log.Warn("rules about the home folder fit no path", zap.Error(err))
	}
	type known struct {
		of   *config.Config
		list []facts.Dependency
	}
	programs, last := ownPrograms(), atomic.Pointer[known]{}
	return &facts.Reader{Home: home, Links: d.links, Text: d.links.Text, Guard: func() []facts.Dependency {
		c := d.config.Load()
		now := last.Load()
		if now == nil || now.of != c { // as often as settings change: it looks at each file
			now = &known{c, append(slices.Clone(programs), ownFiles(*c)...)}
			last.Store(now)
		}
		return now.list
	}}
}

// usualLine has the programs that agents call most.
const usualLine = "cd x && git status | head; ls -la; cat a.json | grep b > c; rm d; sed -n 1p e; find . -name f; " +
	"npm test; npx g; node h.js; python3 i.py; go test ./...; cargo test; make; curl localhost; docker ps; gh pr view"

// readAhead judges a call and reads a line if a hook judges by rules: pages of hookd, the tables of usual programs and
// the search for secrets are then there before the first call, which would wait 10 to 20 ms for them.
func (d *Daemon) readAhead(found *hook.Snapshot) {
	hooks := found.Runnable()
	if slices.ContainsFunc(hooks, func(h *hook.Hook) bool { return h.Type == hook.Rules }) {
		d.runner.Warm(hooks)
		d.reader.Line(usualLine, d.config.Load().Home)
	}
}

// ownFiles are the places where this daemon keeps the files that guard, wherever its settings have them.
func ownFiles(c config.Config) (list []facts.Dependency) {
	own := func(tree bool, paths ...string) {
		for _, path := range paths {
			for _, target := range slices.Compact([]string{path, withoutLinks(path)}) {
				list = append(list, facts.Dependency{Target: target, Tree: tree, Why: "belongs to the running hookd"})
			}
		}
	}
	own(true, c.HooksDir, filepath.Join(c.Home, "packs"))
	own(true, filepath.Join(c.Home, "hookd"), filepath.Join(c.State, "hookd"))
	own(false, c.SettingsFile(), filepath.Join(c.Home, "hooks.lock"), c.LockFile(), c.Socket)
	for _, end := range []string{"", "-wal", "-shm", "-lock", "-accepted"} {
		own(end == "-accepted", c.StorePath+end)
	}
	for _, source := range c.Sources {
		files, _ := filepath.Glob(source.Path) // a pattern that is none was refused with the settings
		own(source.Type == config.HookDir, append(files, source.Path)...)
	}
	return list
}

// besides are the names of hookd's programs, which are installed in one folder.
var besides = []string{"hookd", "hookd-bridge", "hookd-fleet", "hookd-fleet-server"}

// ownPrograms are this program and hookd's programs beside it: as they are written, and
// without links. There are none when the system does not say which program this is. A
// hook could not find them out: only root can read the executable of a concealed process.
func ownPrograms() (list []facts.Dependency) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	paths := []string{self, withoutLinks(self)}
	for _, program := range slices.Clone(paths) {
		for _, name := range besides {
			path := filepath.Join(filepath.Dir(program), name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				paths = append(paths, path, withoutLinks(path))
			}
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		list = append(list, facts.Dependency{Target: path, Why: "is the running hookd"})
	}
	return list
}

// withoutLinks returns where a path leads to; the path as it is when that cannot be found out.
func withoutLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
