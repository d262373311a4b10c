package catalog

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
)

// Pending is a hook that waits to be allowed, as it was when it was read.
type Pending struct {
	Hook    string   `json:"hook"` // its ID
	Name    string   `json:"name"`
	File    string   `json:"file"`
	New     bool     `json:"new"`  // no version was ever allowed
	Gone    bool     `json:"gone"` // it was allowed, and is not there any more or switched off
	Digest  string   `json:"digest"`
	Changes []string `json:"changes"`           // since it was allowed, for people
	Refused string   `json:"refused,omitempty"` // why it will not run all the same
	Diffs   []Text   `json:"-"`
	Hidden  []string `json:"-"` // files that differ and are too long to be shown
	Door    string   `json:"-"` // the way by which a person allows it, such as page; "" = a command

	approval discovery.Approval
}

// Text is one file of a hook, as it was allowed ("" = it did not exist) and as it is.
type Text struct{ Path, Old, New string }

// Waiting returns the hooks that wait under settings c, or would with reload.mode: ask,
// in registration order. It needs no daemon.
func Waiting(c config.Config) (list []Pending) {
	c.ReloadMode = "ask"
	allowed := approved(c)()
	maps.Copy(allowed, dirs(c, policy.NewHome(c.PolicyDir()))().Allowed)
	for _, e := range Scan(c).Entries {
		switch {
		case e.State == hook.Gone:
			list = append(list, pendingGone(allowed, e, "is gone"))
		case e.Waits != nil && e.Waits == e.Hook:
			list = append(list, pendingGone(allowed, e, "is switched off"))
		case e.Waits != nil:
			old, known := allowed[e.Waits.ID]
			list = append(list, pending(e.Waits, old, known && !old.Gone))
		}
	}
	return list
}

// pendingGone is a hook whose removal or marker waits to be allowed.
func pendingGone(allowed map[string]discovery.Approval, e hook.Entry, how string) Pending {
	p := Pending{Name: e.Name, Hook: e.Name, File: e.File, Gone: true, Changes: []string{how}}
	for id, a := range allowed {
		if e.Hook != nil && id == e.Hook.ID ||
			e.Hook == nil && a.Source == e.Source && (a.Name == e.Name || id == e.Name) {
			p.Hook, p.approval = id, a
		}
	}
	p.Digest = p.approval.Digest
	if e.State == hook.Gone {
		p.approval.Gone, p.approval.Texts = true, nil
	} else {
		p.approval.Off = true
	}
	return p
}

func pending(h *hook.Hook, old discovery.Approval, known bool) Pending {
	p := Pending{
		Hook:     h.ID,
		Name:     h.Name,
		File:     h.File,
		New:      !known,
		approval: discovery.Approve(h),
		Changes:  []string{},
	}
	p.Digest = p.approval.Digest
	if known {
		p.Changes = old.Changes(h)
	}
	if bad := h.Seal.Refusals(); len(bad) > 0 {
		p.Refused = bad[0].Error()
	}
	for _, path := range append([]string{h.File}, h.Seal.Own()...) {
		before, after := string(old.Texts[path]), string(p.approval.Texts[path])
		switch _, kept := p.approval.Texts[path]; {
		case before != after:
			p.Diffs = append(p.Diffs, Text{path, before, after})
		case !kept && p.approval.Files[path] != old.Files[path] && !slices.Contains(p.approval.Unread, path):
			p.Hidden = append(p.Hidden, path)
		}
	}
	return p
}

// Allow allows p: a daemon that reads hooks again will run it, unless it has changed
// since p was made. It is an error if p could not show a file that it has.
func Allow(c config.Config, p Pending) error {
	if len(p.approval.Unread) > 0 {
		const why = "%s was changed while hookd read it, so it could not be shown: look at the hook once more"
		return fmt.Errorf(why, escape.Quote(p.approval.Unread[0]))
	}
	if root := p.approval.Project; root != "" {
		repository, ok := project.Find(root)
		if !ok {
			return fmt.Errorf("%s is in no git repository any more", root)
		}
		return trustVersions(c, repository.ID, []Pending{p})
	}
	approvals := discovery.NewApprovals(c.AllowedDir())
	if old, known := approvals.Get(p.Hook); known && !p.Gone {
		p.approval.Off = old.Off
		p.approval.Earlier = earlier(old, p.Digest)
	}
	p.approval.At, p.approval.By = time.Now().UTC(), person(p.Door)
	return approvals.Put(p.approval)
}

// mostEarlier is how many earlier versions of a hook are kept, to be compared.
const mostEarlier = 8

// earlier are the versions that were allowed before the version with a digest.
func earlier(last discovery.Approval, digest string) []discovery.Approval {
	list := last.Earlier
	if last.Digest != digest && !last.Gone {
		last.Earlier = nil
		list = append([]discovery.Approval{last}, list...)
	}
	return list[:min(len(list), mostEarlier)]
}

// Allowed returns the versions of a hook of the user that were allowed, the newest first; none where no
// person has allowed any. name is as in hook.Entry.
func Allowed(c config.Config, name string) []discovery.Approval {
	for _, a := range discovery.NewApprovals(c.AllowedDir()).All() {
		if a.Name == name && !a.Gone {
			return append([]discovery.Approval{a}, a.Earlier...)
		}
	}
	return nil
}

// Is reports whether each file of the version that is in a folder has the sum that is given,
// by its path there.
func (p Pending) Is(folder string, sums map[string]string) bool {
	is := func(path, sum string) bool {
		inside, err := filepath.Rel(folder, path)
		return err != nil || !filepath.IsLocal(inside) || sums[filepath.ToSlash(inside)] == sum
	}
	for path, sum := range p.approval.Files {
		if !is(path, sum) {
			return false
		}
	}
	return is(p.File, p.approval.Sum)
}

// Switch switches a hook on or off, with a marker that its files know nothing of. door is
// as in Pending.
func Switch(c config.Config, name string, on bool, door string) error {
	markers, by := discovery.NewMarkers(c.DisabledDir()), person(door)
	if on {
		return errors.Join(markers.Enable(name, by), allowOff(c, name, false, by))
	}
	return errors.Join(allowOff(c, name, true, by), markers.Disable(name, by))
}

// Snooze switches a hook off until a time. door is as in Pending.
func Snooze(c config.Config, name string, until time.Time, door string) error {
	by := person(door)
	return errors.Join(allowOff(c, name, true, by), discovery.NewMarkers(c.DisabledDir()).Snooze(name, by, until))
}

// Wake switches a hook on again whose snooze is over.
func Wake(c config.Config, name string) error {
	const by = "hookd, at the end of its snooze"
	return errors.Join(discovery.NewMarkers(c.DisabledDir()).Enable(name, by), allowOff(c, name, false, by))
}

// allowOff stores whether a person has switched a hook off: with reload.mode: ask a
// marker alone does not switch off a hook that was allowed.
func allowOff(c config.Config, name string, off bool, by string) error {
	approvals := discovery.NewApprovals(c.AllowedDir())
	for _, a := range approvals.All() {
		if a.Name != name || a.Gone || a.Off == off {
			continue
		}
		a.Off, a.At, a.By = off, time.Now().UTC(), by
		if err := approvals.Put(a); err != nil {
			return err
		}
	}
	return nil
}

// AllowSettings puts hookd.yaml into force as it was when c was loaded.
func AllowSettings(c config.Config) error {
	return config.Allowed{At: time.Now().UTC(), By: person(""), Text: c.File}.Allow(c.Home)
}

// person returns the user who types a command, also behind sudo, the process, and the
// door unless it is a command.
func person(door string) string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if behind := os.Getenv("SUDO_USER"); behind != "" {
		name += " (sudo by " + behind + ")"
	}
	if door != "" {
		door = ", door " + door
	}
	return fmt.Sprintf(
		"%s (uid %d, pid %d, started by %s%s)", name, os.Getuid(), os.Getpid(), programOf(os.Getppid()), door,
	)
}

// programOf returns a process and its program, if that is known.
func programOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("%s, pid %d", strings.TrimSpace(string(text)), pid)
}
