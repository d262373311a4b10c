package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// PolicyPrefix begins the names of hooks of a policy, ShadowPrefix the names of its hooks in
// the shadow.
const (
	PolicyPrefix = "policy:"
	ShadowPrefix = "policy-shadow:"
)

// LayerOf is the layer that the name of a hook says, for a hook that cannot be read.
func LayerOf(name string) hook.Layer {
	switch {
	case strings.HasPrefix(name, PolicyPrefix), strings.HasPrefix(name, ShadowPrefix):
		return hook.LayerPolicy
	case strings.HasPrefix(name, ProjectPrefix):
		return hook.LayerProject
	case strings.Contains(name, "/"):
		return hook.LayerPack
	}
	return hook.LayerUser
}

// policyDirs finds the hooks of the policy that is set. A policy that is not known denies.
func policyDirs(c config.Config, home policy.Home) discovery.Dirs {
	d := discovery.Dirs{Files: []string{home.File()}, Allowed: map[string]discovery.Approval{}}
	now, set, err := home.Current()
	switch {
	case err != nil:
		d.Fixed = []*hook.Hook{unknownPolicy(c, home.File(), err)}
		return d
	case !set:
		return d
	}
	d.Problems = policyProblems(now)
	d.Off = func(h *hook.Hook) (by, why string) { return switchedOff(now, h) }
	for _, placed := range []struct {
		policy.Placed
		prefix string
		shadow bool
	}{{now.Placed, PolicyPrefix, false}, {now.Shadow, ShadowPrefix, true}} {
		if placed.Dir != "" {
			d.List = append(d.List, discovery.Dir{
				Root: placed.Dir, Hooks: placed.Manifest.HookFolders(), Layer: hook.LayerPolicy, Prefix: placed.prefix,
				Shadow: placed.shadow, Files: policyFiles(placed.Placed),
			})
		}
	}
	return d
}

// switchedOff returns who has switched a hook off for the whole fleet, and why; by "" = it
// is not off.
func switchedOff(now policy.Current, h *hook.Hook) (by, why string) {
	sequence := uint64(0)
	switch {
	case strings.HasPrefix(h.Name, PolicyPrefix):
		sequence = now.Manifest.Sequence
	case strings.HasPrefix(h.Name, ShadowPrefix):
		sequence = now.Shadow.Manifest.Sequence
	}
	off := now.Directive.IsOff(h.Name, sequence)
	if off == nil {
		return "", ""
	}
	key := "a key that cannot be read"
	if public, err := policy.PublicKey(now.State.Key); err == nil {
		key = "key " + policy.Fingerprint(public)
	}
	return fmt.Sprintf("%s at %s, signed by %s", off.By, off.Time.Format(time.RFC3339), key), off.Reason
}

// policyFiles returns the files of one hook of a policy and their signed content, by its
// folder.
func policyFiles(now policy.Placed) func(folder string) hook.Files {
	filesOf, root := now.Manifest.FilesOf(), now.Dir+string(filepath.Separator)
	return func(folder string) hook.Files {
		inside, is := strings.CutPrefix(folder, root)
		if folder == now.Dir {
			inside, is = ".", true
		}
		if !is {
			return hook.Files{Bad: "is not in " + now.Dir}
		}
		files := filesOf(filepath.ToSlash(inside))
		if len(files) > maxContent {
			return hook.Files{Bad: fmt.Sprintf("is made of more than %d files", maxContent)}
		}
		f := hook.Files{Signed: make(map[string]trust.Signed, len(files)), Mend: "hookd policy update"}
		for _, file := range files {
			path := root + filepath.FromSlash(file.Path)
			f.Paths, f.Signed[path] = append(f.Paths, path), trust.Signed{Sum: file.SHA256, Exec: file.Exec}
		}
		return f
	}
}

// policyProblems are the problems of a policy in force that a person should know.
func policyProblems(now policy.Current) (list []hook.Problem) {
	warn := func(text, do string) {
		list = append(list, hook.Problem{File: now.State.Source, Message: text, Hint: do, Warning: true})
	}
	if now.State.Error != "" {
		do := "hookd policy update"
		if now.State.Source == policy.FromFleet {
			do = "hookd fleet rollouts"
		}
		warn(now.State.Error, do)
	}
	if now.State.Refused != "" {
		warn(now.State.Refused, "hookd fleet rollouts")
	}
	if now.Manifest.Expired(time.Now()) {
		warn(fmt.Sprintf("policy %s %d expired at %s and stays in force: build a newer one",
			now.Manifest.Name, now.Manifest.Sequence, now.Manifest.Expires.Format(time.RFC3339)), "hookd policy update")
	}
	return list
}

// unknownPolicy is a hook that denies whatever can be denied: a policy is set, and it
// is not known which.
func unknownPolicy(c config.Config, file string, err error) *hook.Hook {
	waited := true
	h := &hook.Hook{
		ID: PolicyPrefix + "unknown", Name: PolicyPrefix + "unknown", Source: hook.Source{Type: "policy", Path: file},
		Description: "stands in for a policy that cannot be read",
		File:        file, Dir: c.Home, Type: hook.Builtin, Command: "policy",
		Definition: "policy", Layer: hook.LayerPolicy,
		Lane: events.LaneDefault, Blocking: &waited, OnError: hook.OnErrorDeny, Timeout: c.TimeoutBuiltin,
		Enabled: true, Order: hook.OrderSession,
		Files: hook.Files{Bad: fmt.Sprintf("has a policy that cannot be read: %v", err), Mend: "hookd policy show"},
	}
	if p, err := pattern.Compile("*"); err == nil {
		h.Patterns = []pattern.Pattern{p}
	}
	return h
}

// CheckPolicy returns the look at a bundle before it is put in force: each of its hooks
// must be readable, and the names apart. The hooks are kept in known, for the scan that
// follows; nil = they are not.
func CheckPolicy(c config.Config, known *hookdir.Readings) policy.Check {
	return func(dir string, b policy.Bundle) error {
		opts := readOptions(c, false).Once()
		opts.Layer, opts.Prefix = hook.LayerPolicy, PolicyPrefix
		opts.Content = func(path string) (f hookdir.File, known bool) {
			inside, is := strings.CutPrefix(path, dir+"/")
			file, known := b.Content.File(inside)
			return hookdir.File{Data: file.Data, Exec: file.Exec}, is && known
		}
		hooks, readings := readFolders(dir, b.Content.HookFolders(), opts), []hookdir.Reading(nil)
		if err := CheckHooks(hooks); err != nil {
			return err
		}
		for _, f := range hooks {
			readings = append(readings, hookdir.Reading{Dir: f.Hook.Dir, Hook: f.Hook, Problems: f.Problems})
		}
		known.Keep(opts, readings)
		return nil
	}
}

// SetPolicy puts the bundle of a source in force, signed by key, which is a text or a file,
// and bound to name, see policy.Home.Set.
// Of policy.FromFleet nothing is in force before the fleet brings it.
func SetPolicy(ctx context.Context, c config.Config, source, key, name string) (policy.UpdateResult, error) {
	public, err := policy.PublicKey(key)
	if err != nil {
		return policy.UpdateResult{}, err
	}
	home := policy.NewHome(c.PolicyDir())
	if source == policy.FromFleet && c.System {
		return policy.UpdateResult{}, errors.New("the system daemon takes no bundle from the fleet: give it a URL, a file or a folder")
	}
	if source == policy.FromFleet {
		current, err := home.SetFleet(policy.FormatKey(public), person(""))
		return policy.UpdateResult{Changed: true, Current: current}, err
	}
	return home.Set(ctx, source, policy.FormatKey(public), person(""), name, CheckPolicy(c, nil))
}
