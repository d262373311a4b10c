package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/wire"
)

// Scan reads the hooks of settings c as a daemon that starts now would.
func Scan(c config.Config) *hook.Snapshot {
	return discovery.Scan(Options(c, policy.NewHome(c.PolicyDir())), nil)
}

// Match returns which hooks would run for an event that is sent with wait, in which lane
// and order, and why the others would not. It needs no daemon.
func Match(c config.Config, env events.Envelope) wire.Matches {
	snap := Scan(c)
	repository, _ := project.Find(env.Cwd) // no cwd, no repository
	contract := events.For(env.Dialect, env.Event)
	m := wire.Matches{
		Event:     contract.Name,
		Dialect:   contract.Dialect,
		Kind:      contract.Kind,
		Decidable: contract.Decidable,
		Sequence:  contract.Sequence,
		Hooks:     []wire.Match{},
	}
	for _, d := range match.Explain(snap, env, repository.Root, when.NewDisk()) {
		m.Hooks = append(m.Hooks, wire.Match{
			Hook: d.Hook.Name, Runs: d.Runs, Why: d.Why, Fitted: d.Fitted, Given: d.Given, Role: d.Role,
			Decides: d.Blocks,
		})
		if bad := d.Hook.Seal.Refusals(); d.Runs && len(bad) > 0 {
			m.Hooks[len(m.Hooks)-1].Why = "its runs are refused: " + bad[0].Error()
		}
	}
	for _, e := range snap.Entries {
		if e.State == hook.Rejected || e.State == hook.Disabled || e.Hook == nil {
			m.Hooks = append(m.Hooks, wire.Match{Hook: e.Name, Why: "it is " + string(e.State)})
		}
	}
	return m
}

// Validate reads hook folders, folders of hook folders, docker-agent files and
// AGENT.md files, and reports their problems. Without paths it reads the hooks directory.
func Validate(c config.Config, paths []string, strict bool) (wire.Validation, error) {
	if len(paths) == 0 {
		paths = []string{c.HooksDir}
	}
	v := wire.Validation{Hooks: []wire.Validated{}}
	for _, path := range paths {
		if parse := parserOf(c, path); parse != nil {
			v.Hooks = append(v.Hooks, validateFile(path, parse))
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
	noteDuplicates(c, v.Hooks)
	return v, nil
}

// noteDuplicates rejects the hooks that a scan of the settings' hooks rejects as their name is another's.
func noteDuplicates(c config.Config, list []wire.Validated) {
	for _, e := range Scan(c).Entries {
		for i, v := range list {
			if v.OK && v.File == e.File && e.State == hook.Rejected {
				list[i].OK, list[i].Problems = false, append(v.Problems, Worst(e.Problems))
			}
		}
	}
}

func validate(folder string, opt hookdir.Options) wire.Validated {
	h, ps := hookdir.Read(folder, opt)
	v := wire.Validated{
		Name:     filepath.Base(folder),
		File:     filepath.Join(folder, hookdir.FileName),
		OK:       h != nil,
		Problems: listed(ps),
	}
	if h != nil {
		v.Name = h.Name
		v.Problems = append(v.Problems, ruleProblems(h)...)
	}
	return v
}

// ruleProblems are the likely faults in the rules of a hook: rules that never decide, and
// examples that they do not treat as they say. The home of the examples is not the user's.
func ruleProblems(h *hook.Hook) (list []hook.Problem) {
	if h.Rules == nil {
		return nil
	}
	for _, w := range h.Rules.Check() {
		list = append(list, hook.Problem{
			File: w.Rule.File, Line: w.Rule.Line, Column: w.Rule.Column, Message: w.Message, Hint: w.Hint,
			Warning: true,
		})
	}
	return list
}

// parserOf returns the parser of a file with many hooks: an AGENT.md or a YAML file other
// than a HOOK.yaml. Nil for anything else.
func parserOf(c config.Config, path string) discovery.Parse {
	if fi, err := os.Stat(path); err != nil || fi.IsDir() || filepath.Base(path) == hookdir.FileName {
		return nil
	}
	for _, f := range fileFormats {
		if slices.Contains(f.endings, filepath.Ext(path)) {
			return f.parse(c)
		}
	}
	return nil
}

func validateFile(path string, parse discovery.Parse) wire.Validated {
	hooks, ps := discovery.ParseFile(path, parse)
	ok := !hook.Rejects(ps)
	return wire.Validated{
		Name:     fmt.Sprintf("%s (%d hooks)", filepath.Base(path), len(hooks)),
		File:     path,
		OK:       ok,
		Problems: listed(ps),
	}
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

// Worst returns the first problem that is no warning, else the first.
func Worst(ps []hook.Problem) hook.Problem {
	for _, p := range ps {
		if !p.Warning {
			return p
		}
	}
	return ps[0]
}

// Find returns the hook of that name in the hooks directory, or the one in that
// folder, also a hook that waits to be allowed.
func Find(c config.Config, name string) (*hook.Hook, error) {
	if folder, err := filepath.Abs(name); err == nil {
		if _, err := os.Stat(filepath.Join(folder, hookdir.FileName)); err == nil {
			h, ps := discovery.Folder(folder, discovery.Options{Read: readOptions(c, false)})
			if h == nil {
				return nil, Worst(ps)
			}
			return h, nil
		}
	}
	return Named(c, name)
}

// Named returns the hook of that name in the hooks directory, also a hook that waits to be
// allowed.
func Named(c config.Config, name string) (*hook.Hook, error) {
	var names []string
	for _, e := range Scan(c).Entries {
		names = append(names, e.Name)
		if e.Name == name || e.Hook != nil && e.Hook.Name == name {
			switch {
			case e.Waits != nil: // to look at what it does is why one runs it here
				return e.Waits, nil
			case e.Hook == nil:
				return nil, Worst(e.Problems)
			}
			return e.Hook, nil
		}
	}
	missing := NoHook(name, c.HooksDir, names)
	missing.Code = wire.CodeRejected // as for one that is there and cannot be used
	return nil, missing
}

// Tested returns the hooks that have tests, in registration order, and the names of
// the hooks without tests.
func Tested(c config.Config) (hooks []*hook.Hook, without []string) {
	for _, h := range Scan(c).Runnable() {
		if len(h.Tests) > 0 {
			hooks = append(hooks, h)
		} else {
			without = append(without, h.Name)
		}
	}
	return hooks, without
}

// listed is a list that JSON shows as one, also an empty one.
func listed(list []wire.Problem) []wire.Problem { return append([]wire.Problem{}, list...) }
