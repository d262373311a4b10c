package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/source/dockeragent"
	"github.com/hookd/hookd/internal/source/familiar"
	"github.com/hookd/hookd/internal/source/hookdir"
)

// Scan reads the hooks of settings c as a daemon that starts now would.
func Scan(c config.Config) *hook.Snapshot {
	return discovery.Scan(discovery.Options{
		Root: c.HooksDir, Read: readOptions(c, false), Files: fileSources(c),
		Disabled: discovery.NewMarkers(c.DisabledDir()).Disabled, Approved: approved(c),
	}, nil)
}

// Match says which hooks would run for an event that is sent with wait, in
// which lane and order, and why the others would not. It needs no daemon.
func Match(c config.Config, env events.Envelope) api.Matches {
	snap := Scan(c)
	contract := events.For(env.Dialect, env.Event)
	m := api.Matches{Event: contract.Name, Dialect: contract.Dialect, Kind: contract.Kind, Decidable: contract.Decidable, Sequence: contract.Sequence, Hooks: []api.Match{}}
	for _, d := range dispatch.Explain(snap, env) {
		m.Hooks = append(m.Hooks, api.Match{Hook: d.Hook.Name, Runs: d.Runs, Why: d.Why, Given: d.Given, Lane: d.Lane, Blocks: d.Blocks})
		if bad := d.Hook.Seal.Refusals(); d.Runs && len(bad) > 0 {
			m.Hooks[len(m.Hooks)-1].Why = "its runs are refused: " + bad[0].Error()
		}
	}
	for _, e := range snap.Entries {
		if e.State == hook.Rejected || e.State == hook.Disabled || e.Hook == nil {
			m.Hooks = append(m.Hooks, api.Match{Hook: e.Name, Why: "it is " + string(e.State)})
		}
	}
	return m
}

// Validate reads hook folders, folders of hook folders, docker-agent files and
// AGENT.md files, and reports what is wrong. Without paths it reads the hooks directory.
func Validate(c config.Config, paths []string, strict bool) (api.Validation, error) {
	if len(paths) == 0 {
		paths = []string{c.HooksDir}
	}
	v := api.Validation{Hooks: []api.Validated{}}
	for _, path := range paths {
		if read := readerOf(path); read != nil {
			v.Hooks = append(v.Hooks, validateFile(path, read))
			continue
		}
		folders, err := hookFolders(path)
		if err != nil {
			return v, err
		}
		for _, folder := range folders {
			v.Hooks = append(v.Hooks, validate(folder, readOptions(c, strict)))
		}
	}
	return v, nil
}

func validate(folder string, opt hookdir.Options) api.Validated {
	h, ps := hookdir.Read(folder, opt)
	v := api.Validated{Name: filepath.Base(folder), File: filepath.Join(folder, hookdir.FileName), OK: h != nil, Problems: problems(ps)}
	if h != nil {
		v.Name = h.Name
	}
	return v
}

// readerOf returns how a file that holds many hooks is read: an AGENT.md or a
// YAML file other than a HOOK.yaml. Nil for anything else.
func readerOf(path string) func(string) ([]*hook.Hook, []hook.Problem) {
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() || filepath.Base(path) == hookdir.FileName {
		return nil
	}
	switch filepath.Ext(path) {
	case ".md":
		return fileReaders[familiar.SourceType]
	case ".yaml", ".yml":
		return fileReaders[dockeragent.SourceType]
	}
	return nil
}

func validateFile(path string, read func(string) ([]*hook.Hook, []hook.Problem)) api.Validated {
	hooks, ps := read(path)
	ok := !slices.ContainsFunc(ps, func(p hook.Problem) bool { return !p.Warning })
	return api.Validated{Name: fmt.Sprintf("%s (%d hooks)", filepath.Base(path), len(hooks)), File: path, OK: ok, Problems: problems(ps)}
}

// hookFolders returns path itself when it is a hook folder (or its HOOK.yaml),
// else the folders in it.
func hookFolders(path string) ([]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == hookdir.FileName {
		path = filepath.Dir(path)
	}
	if _, err := os.Stat(filepath.Join(path, hookdir.FileName)); err == nil {
		return []string{path}, nil
	}
	snap := discovery.Scan(discovery.Options{Root: path}, nil)
	if len(snap.Problems) > 0 {
		return nil, snap.Problems[0]
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range snap.Entries {
		folders = append(folders, e.Source.Path)
	}
	return folders, nil
}

// TestLocal runs one hook as the daemon would, without a daemon. The hook is
// named as in the hooks directory, or by its folder.
func TestLocal(ctx context.Context, c config.Config, name string, env events.Envelope) (api.Tested, error) {
	h, err := localHook(c, name)
	if err != nil {
		return api.Tested{}, err
	}
	temp, err := os.MkdirTemp("", "hookd-test-")
	if err != nil {
		return api.Tested{}, err
	}
	p := proc.New(proc.Options{Cgroup: true})
	r := newRunner(p, temp, c.DataDir(), zap.NewNop())
	r.configure(c)
	d := dispatch.New(dispatch.Options{Runner: r, Recorder: nobody{}})
	tested, refused := try(ctx, d, dispatch.Origin{}, h, env)
	if refused != nil {
		err = refused
	}
	r.kept.workers.Close(ctx)
	return tested, errors.Join(err, p.Close(), os.RemoveAll(temp))
}

func localHook(c config.Config, name string) (*hook.Hook, error) {
	if folder, err := filepath.Abs(name); err == nil {
		if _, err := os.Stat(filepath.Join(folder, hookdir.FileName)); err == nil {
			h, ps := discovery.Folder(folder, discovery.Options{Read: readOptions(c, false)})
			if h == nil {
				return nil, worst(ps)
			}
			return h, nil
		}
	}
	for _, e := range Scan(c).Entries {
		if e.Name == name || e.Hook != nil && e.Hook.Name == name {
			switch {
			case e.Waits != nil: // to look at what it does is why one runs it here
				return e.Waits, nil
			case e.Hook == nil:
				return nil, worst(e.Problems)
			}
			return e.Hook, nil
		}
	}
	return nil, fmt.Errorf("no hook %q in %s; see `hookd validate`", name, c.HooksDir)
}

// worst returns the problem that rejects, of those of a rejected hook.
func worst(ps []hook.Problem) hook.Problem {
	for _, p := range ps {
		if !p.Warning {
			return p
		}
	}
	return ps[0]
}

// nobody keeps no records.
type nobody struct{}

func (nobody) Accept(_ *events.Event, _ []string, stored func(bool, *events.Error)) *events.Error {
	if stored != nil {
		stored(false, nil)
	}
	return nil
}
func (nobody) Started(dispatch.Key, string, time.Time)          {}
func (nobody) Finished(dispatch.Key, events.Run, dispatch.Fate) {}
func (nobody) Keeps() bool                                      { return false }
func (nobody) Pending(uint64, int) ([]dispatch.Waiting, error)  { return nil, nil }

// try runs h for env and tells everything it did. An event that is not named
// is the first that the hook asks for by name, with an example of its payload.
func try(ctx context.Context, d *dispatch.Dispatcher, from dispatch.Origin, h *hook.Hook, env events.Envelope) (api.Tested, *events.Error) {
	if env.Event == "" {
		env.Event = firstEvent(h)
	}
	if len(env.Data) == 0 || string(env.Data) == "{}" {
		env.Data = events.For(env.Dialect, env.Event).Example()
	}
	t, err := d.Try(ctx, from, h, env)
	if err != nil {
		return api.Tested{}, err
	}
	tested := api.Tested{Run: t.Run, Verdict: t.Verdict, Why: t.Why, Decides: t.Blocks, Warning: t.Warning}
	if t.Job != nil {
		tested.Given, tested.Stdin = t.Job.Given, string(stdin(t.Job))
	}
	return tested, nil
}

// firstEvent is the first pattern that is a name, else the first known name
// that a pattern matches.
func firstEvent(h *hook.Hook) string {
	for _, p := range h.Patterns {
		if events.CheckName(p.Text) == nil {
			return p.Text
		}
	}
	for _, p := range h.Patterns {
		for _, c := range events.All() {
			if p.Match(c.Name) {
				return c.Name
			}
		}
	}
	return "test"
}
