package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/hookdir"
	"github.com/hookd/hookd/internal/trust"
)

// vetter looks at the files of hooks that were read: who can change them
// (refused), and whether a person has allowed what they hold (waiting).
type vetter struct {
	checker  *trust.Checker
	digest   func(sum string, files ...string) string
	path     string                                  // where env looks programs up
	approved func(id string) (Approval, bool)        // nil = everything is
	lastGood func(hook.Source) []byte                // what a unit's file said in an earlier life; nil = nobody knows
	restore  func(a Approval, dir string) *hook.Hook // reads what was allowed once; nil = that cannot be
}

// remembered returns the last good version of a unit that this life of the
// daemon has not seen whole.
func (v vetter) remembered(src source, unit hook.Source) []*hook.Hook {
	if v.lastGood == nil {
		return nil
	}
	text := v.lastGood(unit)
	if text == nil {
		return nil
	}
	hooks := src.restore(unit, text)
	for _, h := range hooks {
		v.seal(h)
	}
	return slices.DeleteFunc(hooks, func(h *hook.Hook) bool { return !v.allowed(h) })
}

// seal notes what h is made of as it stands now.
func (v vetter) seal(h *hook.Hook) {
	var f trust.Files
	if filepath.IsAbs(h.File) { // hooks of the command line have none
		f.Read = []string{h.File}
	}
	if h.Source.Type == hookdir.SourceType {
		f.Folder = h.Dir
	}
	dir := cmp.Or(h.WorkingDir, h.Dir)
	var digested []string
	switch h.Type {
	case hook.Command:
		f.Run, f.Own = v.checker.Programs(h.Path, h.Args, dir, v.path)
		digested = slices.Compact(append([]string{h.Path}, f.Own...))
	case hook.Script, hook.Spawn:
		f.Run, _ = v.checker.Programs(h.Shell, nil, dir, v.path)
	}
	h.Seal = v.checker.Seal(f)
	h.Digest = v.digest(h.Sum, digested...)
}

// again returns h with a new seal when its files are not those of the old one.
// What nobody has allowed, or somebody has allowed no more, is sealed as refused.
func (v vetter) again(h *hook.Hook) *hook.Hook {
	var changed *trust.Changed
	if !errors.As(v.checker.Recheck(h.Seal), &changed) {
		return h
	}
	next := *h
	v.seal(&next)
	if !v.allowed(&next) {
		a, _ := v.approval(h.ID)
		next.Seal = next.Seal.With(changedSince(h, a, &next))
	}
	return &next
}

func (v vetter) approval(id string) (Approval, bool) {
	if v.approved == nil {
		return Approval{}, false
	}
	return v.approved(id)
}

// allowed reports whether h may come into force.
func (v vetter) allowed(h *hook.Hook) bool {
	if v.approved == nil || !filepath.IsAbs(h.File) { // who types a hook on the command line allows it
		return true
	}
	a, known := v.approved(h.ID)
	return known && a.Digest == AllowDigest(h)
}

// standIn returns the hook to have in force while h waits and there is no last
// good version in memory: the text that was allowed once, else h itself, made
// to fail: a guard that was allowed must not vanish because somebody changed
// it. Nil for a hook that never was allowed.
func (v vetter) standIn(h *hook.Hook) *hook.Hook {
	a, known := v.approval(h.ID)
	if !known {
		return nil
	}
	if v.restore != nil && h.Source.Type == hookdir.SourceType {
		if old := v.restore(a, h.Dir); old != nil && old.ID == h.ID {
			v.seal(old)
			if AllowDigest(old) != a.Digest {
				old.Seal = old.Seal.With(changedSince(h, a, old))
			}
			return old
		}
	}
	next := *h
	next.Seal = h.Seal.With(changedSince(h, a, h))
	return &next
}

// changedSince refuses runs of a hook whose program is not the allowed one.
func changedSince(h *hook.Hook, a Approval, now *hook.Hook) trust.Refusal {
	return trust.Refusal{
		Path: h.File,
		Fact: "is not as it was allowed: " + strings.Join(a.Changes(now), ", "),
		Do:   "hookd allow " + trust.Quote(h.Name),
	}
}

// fails is what comes of a refusal where nothing better is in force.
const fails = "its runs are refused"

// refusals are the problems of hooks that others can change, each once, and
// what comes of them.
func refusals(hooks []*hook.Hook, so string) (list []hook.Problem) {
	for _, h := range hooks {
		for _, r := range h.Seal.Refusals() {
			p := hook.Problem{File: r.Path, Message: r.Fact + ": " + so, Hint: r.Do}
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// waits says what waits, and what runs meanwhile.
func (v vetter) waits(h, inForce *hook.Hook) hook.Problem {
	p := hook.Problem{File: h.File, Hint: "hookd allow " + trust.Quote(h.Name), Warning: true}
	a, known := v.approval(h.ID)
	switch {
	case !known:
		p.Message = "is new and waits to be allowed"
	default:
		p.Message = "has changed and waits to be allowed: " + strings.Join(a.Changes(h), ", ")
	}
	switch {
	case inForce == nil:
		p.Message += "; until then it does not run"
	case len(inForce.Seal.Refusals()) > 0:
		p.Message += "; until then its runs are refused"
	default:
		p.Message += fmt.Sprintf("; until then the version with digest %.12s runs", inForce.Digest)
	}
	return p
}
