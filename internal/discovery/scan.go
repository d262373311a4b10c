package discovery

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// scanned is the result of one scan.
type scanned struct {
	snapshot *hook.Snapshot
	watched  *watchSet // what to watch for the next change; nil = unknown, files do not answer
}

// scannedSource is one folder or file during a scan.
type scannedSource struct {
	reading
	source hook.Source
	before []hook.Entry              // its entries in the previous snapshot
	good   []*hook.Hook              // its last good hooks; nil = none
	fails  bool                      // what was read cannot be used
	isHung bool                      // its files do not answer
	waits  map[string]waiting        // by the ID of the hook in force instead
	own    map[string][]hook.Problem // of one hook, by the ID of the hook in force
}

// waiting is a hook that is not allowed yet.
type waiting struct {
	hook    *hook.Hook
	inForce *hook.Hook // meanwhile; nil = none
	problem hook.Problem
}

// candidates returns the hooks that may come into force: the hooks that were read, or
// the last good ones when the source fails.
func (u *scannedSource) candidates() []*hook.Hook {
	if u.fails {
		return u.good
	}
	return u.hooks
}

func scan(o Options, files *readfile.Patience, previous *hook.Snapshot) scanned {
	dirs := o.Dirs()
	v, disabled := o.vetter(files, dirs), o.Disabled()
	before := map[hook.Source][]hook.Entry{}
	known := v.knownSources()
	for _, e := range previous.Entries {
		if before[e.Source] == nil {
			known = append(known, e.Source)
		}
		before[e.Source] = append(before[e.Source], e)
	}
	snap := &hook.Snapshot{Loaded: time.Now()}
	found, watches, problems := listAll(places(o, dirs), known, files)
	watches, snap.Problems = append(watches, dirs.watch), append(problems, dirs.Problems...)
	var sources []*scannedSource
	for u := range readAll(found, v, before) {
		if !u.isHung && !u.still {
			watches = append(watches, u.watch)
		}
		stays := u.named && len(u.before) > 0 // a file that the settings name fails when it is gone
		if !u.absent || !stays {
			snap.Problems = append(snap.Problems, u.notes...)
		}
		if !u.absent || stays {
			sources = append(sources, u)
		}
	}
	assignNames(sources)
	tellApart(sources)
	for _, u := range sources {
		snap.Entries = append(snap.Entries, u.entries(v, disabled)...)
	}
	snap.Entries = append(snap.Entries, v.removed(snap.Entries, before, disabled)...)
	return scanned{snap, v.watchSet(watches)}
}

// found is one source that a place has listed.
type found struct {
	in     place
	source hook.Source
	hung   bool // its place does not answer
}

// listAll lists all places at once, so that all places that do not answer cost the time
// of one. The sources are in registration order, each once: two places may name the
// same folder.
func listAll(places []place, known []hook.Source, files *readfile.Patience) (
	sources []found, watches []func(*watchSet), problems []hook.Problem,
) {
	lists := make([]listing, len(places))
	var listed sync.WaitGroup
	for i, in := range places {
		listed.Go(func() { lists[i] = in.list(known, files) })
	}
	listed.Wait()
	seen := map[hook.Source]bool{}
	for i, l := range lists {
		watches, problems = append(watches, l.watch), append(problems, l.problems...)
		for at, source := range slices.Concat(l.hung, l.sources) {
			if !seen[source] {
				seen[source] = true
				sources = append(sources, found{in: places[i], source: source, hung: at < len(l.hung)})
			}
		}
	}
	return sources, watches, problems
}

// watchSet returns the set of directories to watch, nil when files do not answer.
func (v vetter) watchSet(watches []func(*watchSet)) *watchSet {
	made := make(chan *watchSet, 1)
	if !v.files.Try("what to watch", func() {
		s := newWatchSet()
		for _, watch := range watches {
			watch(s)
		}
		s.dropScratch()
		made <- s
	}) {
		return nil
	}
	return <-made
}

// watch adds the files of a source: of the hooks that were read, and of those in force.
func (u *scannedSource) watch(w *watchSet) {
	for _, file := range u.files {
		w.file(u.source.Path, file)
	}
	for _, h := range slices.Concat(u.hooks, u.good) {
		for _, file := range h.Seal.Own() {
			w.file(u.source.Path, file)
		}
		for _, folder := range h.Files.Folders {
			w.entries(folder, func(string) bool { return true })
		}
		if h.Path != "" {
			w.file(u.source.Path, h.Path)
		}
		for _, file := range h.Missing {
			w.file(u.source.Path, file)
		}
	}
}

// newSource decides which version of a source comes into force: the version that was read,
// unless it is rejected, or refused while there is a last good version.
func newSource(r reading, v vetter, in place, source hook.Source, before []hook.Entry) *scannedSource {
	u := &scannedSource{
		reading: r, source: source, before: before, fails: r.rejected(),
		waits: map[string]waiting{}, own: map[string][]hook.Problem{},
	}
	for _, h := range lastGood(before) {
		u.good = append(u.good, v.refresh(in, h))
	}
	if u.fails && len(before) == 0 && !u.absent {
		u.good = v.lastGoodHooks(in, source)
	}
	so := runsRefused
	if len(u.good) > 0 && len(refusals(u.good, runsRefused)) == 0 {
		so = "the version before stays in force"
	}
	for _, h := range r.hooks {
		bad := refusals([]*hook.Hook{h}, so)
		u.own[h.ID] = slices.Concat(u.own[h.ID], h.Problems, bad)
		u.fails = u.fails || len(bad) > 0 && len(u.good) > 0
	}
	if u.fails {
		for _, h := range r.hooks { // these are not in force
			u.problems = appendNew(u.problems, u.own[h.ID])
		}
		clear(u.own)
		u.problems = appendNew(u.problems, refusals(u.good, runsRefused))
	} else {
		u.holdUnallowed(v)
	}
	return u
}

// hungSource is a source whose files do not answer: the version in force stays in force.
// After a restart its last good version is in force with a refusal, so that its runs
// fail and a guard denies.
func hungSource(in place, v vetter, source hook.Source, before []hook.Entry) *scannedSource {
	u := &scannedSource{
		reading: in.hung(source), source: source, before: before,
		fails: true, isHung: true, good: lastGood(before),
	}
	if len(before) == 0 {
		for _, h := range v.unsealedLastGood(in, source, true) {
			why := trust.Refusal{Path: u.file, Fact: "is on a file system that does not answer", Do: "df"}
			u.good = append(u.good, v.denying(h, why))
		}
	}
	return u
}

func lastGood(before []hook.Entry) (good []*hook.Hook) {
	for _, e := range before {
		if e.Hook != nil && !e.Provisional {
			good = append(good, e.Hook)
		}
	}
	return good
}

// assignNames decides which source gets a name that several have: the source that falls back
// to its last good version, then the source that has the name already, then the first in
// registration order. The others fail. A source that fails falls back, which may take
// a name from another source, so it repeats until no more source fails.
func assignNames(sources []*scannedSource) {
	for {
		owners := map[string]*scannedSource{}
		claim := func(u *scannedSource, entitled func(*hook.Hook) bool) {
			for _, h := range u.candidates() {
				if owners[h.ID] == nil && entitled(h) {
					owners[h.ID] = u
				}
			}
		}
		for _, u := range sources { // no other hook takes the name of a policy's
			claim(u, func(h *hook.Hook) bool { return h.Layer.Signed() })
		}
		for _, u := range sources {
			if u.fails {
				claim(u, func(*hook.Hook) bool { return true })
			}
		}
		for _, u := range sources {
			claim(u, u.had)
		}
		for _, u := range sources {
			claim(u, func(*hook.Hook) bool { return true })
		}
		if !failOthers(sources, owners) {
			return
		}
	}
}

func (u *scannedSource) had(h *hook.Hook) bool {
	return slices.ContainsFunc(u.good, func(g *hook.Hook) bool { return g.ID == h.ID })
}

func failOthers(sources []*scannedSource, owners map[string]*scannedSource) (lost bool) {
	for _, u := range sources {
		for _, h := range u.hooks {
			if owner := owners[h.ID]; !u.fails && owner != u {
				u.fails, lost = true, true
				u.problems = append(slices.Clone(u.problems), hook.Problem{
					File: u.file, Line: h.Line, Column: h.Column,
					Message: fmt.Sprintf("duplicate name %q: %s has it already, %s cannot take it",
						h.Name, owner.source.Path, u.source.Path),
					Hint: "give one of them another name",
				})
			}
		}
	}
	return lost
}

// entries returns the source's place in the snapshot.
func (u *scannedSource) entries(v vetter, disabled func(string) bool) []hook.Entry {
	if u.fails && len(u.good) == 0 {
		return []hook.Entry{{Name: u.name, File: u.file, Source: u.source, State: hook.Rejected, Problems: u.problems}}
	}
	var entries []hook.Entry
	for _, h := range u.candidates() {
		e := hook.Entry{
			Hook: h, Name: h.Name, File: u.file, Source: u.source, State: hook.Active,
			Problems: slices.Concat(u.problems, u.own[h.ID]),
		}
		refused := len(h.Seal.Refusals()) > 0
		e.Provisional = refused && !slices.Contains(u.good, h)
		w, waits := u.waits[h.ID]
		off := disabled(h.Name)
		if waits {
			e.Hook, e.Waits = w.inForce, w.hook
			e.Problems = append(e.Problems, w.problem)
			e.Provisional = e.Provisional && w.inForce != nil
		}
		switch {
		case off && v.mayDisable(h), !waits && !h.Enabled:
			e.State = hook.Disabled
		case waits:
			e.State = hook.Waiting
		case off && !h.Layer.Signed():
			e.State, e.Waits = hook.Waiting, h
		case refused:
			e.State = hook.Refused
		case u.fails:
			e.State = hook.Degraded
		}
		if off && e.State != hook.Disabled && !waits {
			e.Problems = append(e.Problems, switchedOff(h))
		}
		v.switchOff(&e, h)
		entries = append(entries, same(e, u.before))
	}
	return entries
}

// holdUnallowed makes the hooks that are not allowed wait, and puts the versions that
// were allowed in their places. Their problems stay.
func (u *scannedSource) holdUnallowed(v vetter) {
	for i, h := range u.hooks {
		if v.allowed(h) {
			continue
		}
		w := waiting{hook: h, inForce: u.lastGoodOf(h)}
		if w.inForce == nil {
			w.inForce = v.standIn(h)
		}
		w.problem = v.waitingProblem(h, w.inForce)
		if w.inForce != nil {
			u.hooks[i] = w.inForce
		}
		u.waits[u.hooks[i].ID] = w
		if id := u.hooks[i].ID; id != h.ID {
			u.own[id] = u.own[h.ID]
		}
	}
}

// lastGoodOf returns the last good version of a hook; nil = none. A folder has only
// one hook, whatever its ID.
func (u *scannedSource) lastGoodOf(h *hook.Hook) *hook.Hook {
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

// differs reports whether b says anything that a does not.
func differs(a, b *hook.Snapshot) bool {
	return !slices.EqualFunc(a.Entries, b.Entries, sameEntry) || !sameProblems(a.Problems, b.Problems)
}

func sameEntry(a, b hook.Entry) bool {
	return a.Name == b.Name && a.Source == b.Source && a.State == b.State && a.Provisional == b.Provisional &&
		sameHook(a.Hook, b.Hook) && sameHook(a.Waits, b.Waits) && sameProblems(a.Problems, b.Problems)
}

// sameHook compares digests, and the parts that the digest does not cover: the values of the
// environment, and the command's place in PATH.
func sameHook(a, b *hook.Hook) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.ID == b.ID && a.Digest == b.Digest && a.Path == b.Path && a.Timeout == b.Timeout &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env) && a.Seal.Same(b.Seal)
}

func sameProblems(a, b []hook.Problem) bool { return slices.Equal(a, b) }
