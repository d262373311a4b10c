package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/hookdir"
)

// scanned is one look at everything.
type scanned struct {
	snapshot *hook.Snapshot
	spots    *spots // what to watch for the next change
}

// unit is one folder or file during a scan.
type unit struct {
	reading
	source hook.Source
	before []hook.Entry       // its entries in the previous snapshot
	good   []*hook.Hook       // of these the hooks, nil when there were none
	fails  bool               // what it says now cannot be used
	waits  map[string]waiting // by the ID of what is in the place of the hook that waits
}

// waiting is a hook that nobody has allowed yet.
type waiting struct {
	hook    *hook.Hook
	inForce *hook.Hook // nil = nothing is
	problem hook.Problem
}

// names returns the names the unit takes: those of its hooks, or of its last
// good version when it fails.
func (u *unit) names() []*hook.Hook {
	if u.fails {
		return u.good
	}
	return u.hooks
}

func scan(sources []source, v vetter, disabled func(string) bool, previous *hook.Snapshot) scanned {
	before := map[hook.Source][]hook.Entry{}
	var known []hook.Source
	for _, e := range previous.Entries {
		if before[e.Source] == nil {
			known = append(known, e.Source)
		}
		before[e.Source] = append(before[e.Source], e)
	}
	s := scanned{&hook.Snapshot{Loaded: time.Now()}, newSpots()}
	var units []*unit
	for _, src := range sources {
		l := src.list(known)
		l.watch(s.spots)
		s.snapshot.Problems = append(s.snapshot.Problems, l.problems...)
		for source, r := range readAll(src, v, l.units) {
			for _, file := range r.files {
				s.spots.file(source.Path, file)
			}
			for _, h := range r.hooks {
				for _, file := range h.Seal.Own() {
					s.spots.file(source.Path, file)
				}
			}
			units = append(units, newUnit(r, v, src, source, before[source]))
		}
	}
	s.spots.done()
	settleNames(units)
	for _, u := range units {
		s.snapshot.Entries = append(s.snapshot.Entries, u.entries(disabled)...)
	}
	return s
}

// newUnit decides what of a unit comes into force: what it says now, unless
// that is rejected, or refused while there is a last good version.
func newUnit(r reading, v vetter, src source, source hook.Source, before []hook.Entry) *unit {
	u := &unit{reading: r, source: source, before: before, fails: r.rejected(), waits: map[string]waiting{}}
	for _, e := range before {
		if e.Hook != nil && !e.Provisional {
			u.good = append(u.good, v.again(e.Hook))
		}
	}
	if u.fails && len(before) == 0 {
		u.good = v.remembered(src, source)
	}
	so := fails
	if len(u.good) > 0 && len(refusals(u.good, fails)) == 0 {
		so = "the version before stays in force"
	}
	if bad := refusals(r.hooks, so); len(bad) > 0 {
		u.problems = append(slices.Clone(u.problems), bad...)
		u.fails = u.fails || len(u.good) > 0
	}
	if u.fails {
		u.problems = appendNew(u.problems, refusals(u.good, fails))
	} else {
		u.hold(v)
	}
	return u
}

// settleNames decides who gets a name that several units want: a unit that
// falls back to its last good version, then the one that has it already, then
// the first in registration order. Who loses fails; that may make another one
// lose, so it is done until nobody does.
func settleNames(units []*unit) {
	for {
		owners := map[string]*unit{}
		claim := func(u *unit, entitled func(*hook.Hook) bool) {
			for _, h := range u.names() {
				if owners[h.ID] == nil && entitled(h) {
					owners[h.ID] = u
				}
			}
		}
		for _, u := range units {
			if u.fails {
				claim(u, func(*hook.Hook) bool { return true })
			}
		}
		for _, u := range units {
			claim(u, u.had)
		}
		for _, u := range units {
			claim(u, func(*hook.Hook) bool { return true })
		}
		if !failLosers(units, owners) {
			return
		}
	}
}

func (u *unit) had(h *hook.Hook) bool {
	return slices.ContainsFunc(u.good, func(g *hook.Hook) bool { return g.ID == h.ID })
}

func failLosers(units []*unit, owners map[string]*unit) (lost bool) {
	for _, u := range units {
		for _, h := range u.hooks {
			if owner := owners[h.ID]; !u.fails && owner != u {
				u.fails, lost = true, true
				u.problems = append(slices.Clone(u.problems), hook.Problem{
					File: u.file, Line: h.Line, Column: h.Column,
					Message: fmt.Sprintf("duplicate name %q: %s has it already, %s cannot take it", h.Name, owner.source.Path, u.source.Path),
					Hint:    "give one of them another name",
				})
			}
		}
	}
	return lost
}

// entries returns the unit's place in the snapshot.
func (u *unit) entries(disabled func(string) bool) []hook.Entry {
	if u.fails && len(u.good) == 0 {
		return []hook.Entry{{Name: u.name, File: u.file, Source: u.source, State: hook.Rejected, Problems: u.problems}}
	}
	var entries []hook.Entry
	for _, h := range u.names() {
		e := hook.Entry{Hook: h, Name: h.Name, File: u.file, Source: u.source, State: hook.Active, Problems: u.problems}
		refused := len(h.Seal.Refusals()) > 0
		e.Provisional = refused && !slices.Contains(u.good, h)
		w, waits := u.waits[h.ID]
		switch {
		case waits:
			e.State, e.Hook, e.Waits = hook.Waiting, w.inForce, w.hook
			e.Problems = append(slices.Clone(u.problems), w.problem)
			e.Provisional = e.Provisional && w.inForce != nil
		case !h.Enabled || disabled(h.Name):
			e.State = hook.Disabled
		case refused:
			e.State = hook.Refused
		case u.fails:
			e.State = hook.Degraded
		}
		entries = append(entries, u.keep(e))
	}
	return entries
}

// hold keeps back the hooks that nobody has allowed. What was allowed before
// stays in their places.
func (u *unit) hold(v vetter) {
	for i, h := range u.hooks {
		if v.allowed(h) {
			continue
		}
		w := waiting{hook: h, inForce: u.last(h)}
		if w.inForce == nil {
			w.inForce = v.standIn(h)
		}
		w.problem = v.waits(h, w.inForce)
		if w.inForce != nil {
			u.hooks[i] = w.inForce
		}
		u.waits[u.hooks[i].ID] = w
	}
}

// last returns the last good version of a hook; a folder has only one.
func (u *unit) last(h *hook.Hook) *hook.Hook {
	for _, g := range u.good {
		if g.ID == h.ID || h.Source.Type == hookdir.SourceType {
			return g
		}
	}
	return nil
}

func appendNew(list, more []hook.Problem) []hook.Problem {
	for _, p := range more {
		if !slices.Contains(list, p) {
			list = append(slices.Clip(list), p)
		}
	}
	return list
}

// keep returns the previous entry when nothing about it has changed, so that
// an unchanged hook stays the same value from snapshot to snapshot.
func (u *unit) keep(e hook.Entry) hook.Entry {
	for _, old := range u.before {
		if sameEntry(old, e) {
			return old
		}
	}
	return e
}

// differs reports whether b says anything that a does not.
func differs(a, b *hook.Snapshot) bool {
	return !slices.EqualFunc(a.Entries, b.Entries, sameEntry) || !sameProblems(a.Problems, b.Problems)
}

func sameEntry(a, b hook.Entry) bool {
	return a.Name == b.Name && a.Source == b.Source && a.State == b.State && a.Provisional == b.Provisional &&
		sameHook(a.Hook, b.Hook) && sameHook(a.Waits, b.Waits) && sameProblems(a.Problems, b.Problems)
}

// sameHook compares digests and what is found outside of the files that a
// digest covers: the environment's values, and the command's place in PATH.
func sameHook(a, b *hook.Hook) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.ID == b.ID && a.Digest == b.Digest && a.Path == b.Path && a.Timeout == b.Timeout &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env) && a.Seal.Same(b.Seal)
}

func sameProblems(a, b []hook.Problem) bool { return slices.Equal(a, b) }
