package undo

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/wire"
)

// change is all that an undo makes to one path.
type change struct {
	path     string
	first    *entry // of the oldest chosen call that changed the path: as it was before
	expected state  // as the newest one left it
	left     Path   // the text that the newest one left
	index    string // git's index as the newest one left it, see entry
	have     state
	does     string
	why      string
	from     string  // of a path that is moved back: where it is
	leaves   bool    // its file is moved back to where it was
	swaps    *change // the change that has its file, and whose file it has
	source   string  // where a later call has the file, if this one's link was written to or is gone; "" = nowhere
	other    string  // another name of the file that is in place; "" = none is known
	beside   string  // where the old version goes
	call     string  // the oldest chosen call
}

// plan has the changes of an undo, and the calls that it takes back, oldest first.
type plan struct {
	calls   []*manifest
	changes []*change
}

// choose returns the calls that a request means, oldest first. Undos, and calls that were taken
// back, are chosen by their id alone.
func (k *Keeper) choose(r wire.UndoRequest) ([]*manifest, *wire.Error) {
	all := k.all()
	var chosen []*manifest
	for _, id := range r.Calls {
		m, bad := find(all, id)
		if bad != nil {
			return nil, bad
		}
		if !slices.Contains(chosen, m) {
			chosen = append(chosen, m)
		}
	}
	for _, m := range all {
		bulk := r.Session != "" || !r.Since.IsZero()
		fits := bulk && (r.Session == "" || wire.IsSession(r.Session, m.call.Session)) && !m.call.Time.Before(r.Since)
		done := m.call.Tool == Undo || m.undone != nil && m.undone.Word == wire.UndoAll
		if fits && !done && !slices.Contains(chosen, m) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, &wire.Error{
			Code: wire.CodeNotFound, Message: "nothing was kept for such a call", Hint: "see `hookd undo`",
		}
	}
	slices.SortFunc(chosen, func(a, b *manifest) int {
		return cmp.Or(a.call.Time.Compare(b.call.Time), strings.Compare(a.call.ID, b.call.ID))
	})
	return chosen, nil
}

// find returns the call with an id, or the only one whose id ends so, or has that id of its agent.
func find(all []*manifest, id string) (*manifest, *wire.Error) {
	var fits []*manifest
	for _, m := range all {
		if m.call.ID == strings.ToUpper(id) {
			return m, nil
		}
		if id != "" && (strings.HasSuffix(m.call.ID, strings.ToUpper(id)) || m.call.CallID == id) {
			fits = append(fits, m)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return nil, &wire.Error{
			Code: wire.CodeNotFound, Message: fmt.Sprintf("nothing was kept for a call %q", id),
			Hint: "see `hookd undo`; where old bytes of a file still are: `hookd undo --find PATH`",
		}
	}
	return nil, &wire.Error{
		Code: wire.CodeNotFound, Message: fmt.Sprintf("%d calls end in %q", len(fits), id), Hint: "type more of the id",
	}
}

// makePlan plans a change for each path.
func makePlan(calls []*manifest, r wire.UndoRequest, all func() []*manifest) *plan {
	p := &plan{calls: calls}
	by := map[string]*change{}
	for _, m := range calls {
		for i := range m.entries {
			e := &m.entries[i]
			path := string(e.Path)
			if r.Path != "" && !inside(path, filepath.Clean(r.Path)) {
				continue
			}
			s := by[path]
			if s == nil {
				s = &change{path: path, first: e, call: m.call.ID}
				by[path], p.changes = s, append(p.changes, s)
			}
			if s.expected = gone; e.After != nil {
				s.expected = *e.After
			}
			s.left, s.index = e.Left, e.Index
		}
	}
	slices.SortFunc(p.changes, func(a, b *change) int { return strings.Compare(a.path, b.path) })
	for _, s := range p.changes {
		s.look()
	}
	p.movesBack()
	for _, s := range p.changes {
		if s.does == "" {
			s.source = s.first.elsewhere(all)
		}
		if s.does == "" {
			s.decide(r.Changed)
		}
		if s.does == wire.UndoConflict {
			s.choose(r)
		}
	}
	p.leaveBehind()
	p.leaveMoved()
	p.leaveWithIndex()
	return p
}

// leaveBehind leaves paths that another file is in the way of: a file in the place of a folder above, which the plan
// does not take away.
func (p *plan) leaveBehind() {
	by, at := map[string]*change{}, map[string]string{}
	for _, s := range p.changes {
		by[s.path] = s
	}
	for _, s := range p.changes {
		dir := filepath.Dir(s.path)
		if _, known := at[dir]; !known {
			at[dir] = blocked("/", dir+"/")
		}
		first := at[dir]
		is, err := look(first)
		o := by[first]
		if s.acts() && first != dir+"/" && err == nil && is.Kind != kindGone && (o == nil || !o.acts()) {
			s.does, s.why = wire.UndoLeft, errWay.Error()
		}
	}
}

// leaveMoved leaves a moved file where it is, if it does not go back to its place.
func (p *plan) leaveMoved() {
	for _, s := range p.changes {
		for _, o := range p.changes {
			if s.source == o.path && o.does == wire.UndoRemoved && !o.leaves {
				o.does, o.why = wire.UndoLeft, "it was "+s.path
			}
		}
	}
}

// leaveWithIndex leaves the branch where git has changed the index since, and the other way round: git would show
// the difference as changes.
func (p *plan) leaveWithIndex() {
	left := map[string]bool{} // calls
	of := func(s *change) bool {
		return s.first.Soft && (filepath.Base(s.path) == "index" || strings.Contains(s.path, "/refs/heads/"))
	}
	indexes := map[string]bool{}
	for _, s := range p.changes {
		if of(s) {
			indexes[s.call] = indexes[s.call] || filepath.Base(s.path) == "index"
			left[s.call] = left[s.call] || s.does == wire.UndoLeft
		}
	}
	for _, s := range p.changes {
		if of(s) && s.acts() && left[s.call] && indexes[s.call] {
			s.does, s.why = wire.UndoLeft, "git has changed the index or the branch since"
		}
	}
}

func (s *change) look() {
	have, err := look(s.path)
	if err != nil {
		s.does, s.why = wire.UndoLeft, err.Error()
	}
	s.have = have
	if s.index != "" && !s.expected.untouched(have) && indexOf(s.path) == s.index {
		s.expected = have // git status has refreshed it
	}
}

// movesBack finds the files that were moved and are at the place where they were moved to.
func (p *plan) movesBack() {
	leads := func(o, to *change) bool { // whether the files go round
		for i := 0; o != nil && o.from != "" && i < len(p.changes); i++ {
			at := slices.IndexFunc(p.changes, func(x *change) bool { return x.path == o.from })
			if o = nil; at >= 0 {
				o = p.changes[at]
			}
			if o == to {
				return true
			}
		}
		return false
	}
	for _, s := range p.changes {
		if s.does != "" || s.first.Effect != effectMove || s.have.Kind != kindGone && !s.expected.untouched(s.have) {
			continue
		}
		for _, o := range p.changes {
			if o != s && !o.leaves && s.first.Was.sameFile(o.have) && s.first.Was.sameAttributes(o.have) &&
				(o.have.Kind == kindDir || o.have.Size == s.first.Was.Size && o.have.MTime == s.first.Was.MTime) {
				switch {
				case o.from == s.path:
					s.swaps, o.swaps = o, s
				case leads(o, s): // its file comes from the vault
					o.leaves = true
					continue
				}
				s.does, s.from, o.leaves = wire.UndoBack, o.path, true
				break
			}
		}
	}
	for _, s := range p.changes {
		switch {
		case !s.leaves:
		case s.first.Was.Kind == kindGone:
			s.does = wire.UndoRemoved
		case s.from == "": // as it will be then
			s.have, s.expected = gone, gone
		}
	}
}

// decide compares the path now with the path before the calls and as the calls left it.
func (s *change) decide(changed bool) {
	want := s.first.Was
	switch {
	case s.isBack():
		s.does = wire.UndoSame
	case s.first.Maybe != "" && !changed:
		s.does, s.why = wire.UndoConflict, s.first.Maybe
	case want.Kind == kindGone && s.expected.untouched(s.have), want.Kind == kindGone && s.have.Kind == kindDir:
		s.does = wire.UndoRemoved
	case want.Kind == kindGone:
		s.conflict()
	case s.first.By == byNone:
		s.does, s.why = wire.UndoLeft, s.first.Why
	case s.first.At != "" && !exists(string(s.first.At)):
		s.does, s.why = wire.UndoLeft, errMoved.Error()
	case s.source == "" && s.first.moved():
		s.does, s.why = wire.UndoLeft, "it was moved, and is not there any more"
	case s.source == "" && s.first.spoilt():
		s.does, s.why = wire.UndoLeft, "its file was written to since, under another name"
	case want.Kind == kindDir && s.have.Kind == kindDir, s.have.Kind == kindGone, s.expected.untouched(s.have):
		s.does = wire.UndoBack
	case s.first.Effect == effectMode && s.have.sameFile(want):
		s.does = wire.UndoBack
	default:
		s.conflict()
	}
}

func (s *change) conflict() {
	s.does, s.why = wire.UndoConflict, "it changed since"
	if s.first.Soft {
		s.does, s.why = wire.UndoLeft, "git has changed it since"
	}
}

// isBack reports whether the path is as it was.
func (s *change) isBack() bool {
	want := s.first.Was
	switch {
	case want.untouched(s.have) && s.first.sameXattr():
		return true
	case want.Kind == kindDir && s.have.Kind == kindDir: // made again by an undo before
		return want.sameAttributes(s.have) && want.MTime == s.have.MTime && s.first.sameXattr()
	case want.Kind != kindFile || s.have.Kind != kindFile || want.Size != s.have.Size || !want.sameAttributes(s.have):
		return false
	case s.first.At == "":
		return false
	case want.MTime != s.have.MTime && s.expected.untouched(s.have):
		return false // the call left other times
	case !exists(s.at()): // an undo before has brought it back under another inode
		return want.MTime == s.have.MTime && !s.expected.untouched(s.have)
	}
	return sameBytes(s.at(), s.path)
}

// at is where the old bytes are.
func (s *change) at() string { return cmp.Or(s.source, string(s.first.At)) }

// spoilt reports whether a kept link no longer has the old bytes: the file lived on under another name, and was
// written to in place.
func (e *entry) spoilt() bool {
	if e.By != byLink || e.Was.Kind != kindFile {
		return false
	}
	now, err := look(string(e.At))
	return err == nil && now.Kind == kindFile && (now.Size != e.Was.Size || now.MTime != e.Was.MTime)
}

// moved reports whether a file is kept by its new place alone.
func (e *entry) moved() bool {
	return e.Effect == effectMove && e.At == "" && e.Was.Kind == kindFile && e.By == byNote
}

// elsewhere finds the bytes of a kept file whose link was written to since, or which was moved: at its new place, or
// in the vault of another call. "" = nowhere, or it needs no other place.
func (e *entry) elsewhere(all func() []*manifest) string {
	switch {
	case e.moved():
		if now, err := look(string(e.Dest)); err == nil && now.content() == e.Was.content() {
			return string(e.Dest)
		}
	case !e.spoilt():
		return ""
	}
	for _, m := range all() {
		for i := range m.entries {
			o := &m.entries[i]
			if o.At != "" && o.Was.content() == e.Was.content() && exists(string(o.At)) && !o.spoilt() {
				return string(o.At)
			}
		}
	}
	return ""
}

func exists(path string) bool {
	is, err := look(path)
	return err == nil && is.Kind != kindGone
}

// choose chooses the change of a path that changed since.
func (s *change) choose(r wire.UndoRequest) {
	kept := s.at() != "" && s.first.Was.Kind == kindFile
	switch {
	case r.Merge && kept && s.first.Maybe == "" && s.left != "" && s.have.Kind == kindFile && s.merges():
		s.does, s.why = wire.UndoMerged, "with what changed since"
	case r.Beside && kept:
		s.does = wire.UndoBeside
		s.beside = freeName(s.path + ".before-" + s.call[max(0, len(s.call)-6):])
	case r.Skip || r.Beside || r.Merge:
		s.does = wire.UndoLeft
	}
}

// freeName returns path, or the first of path-2, path-3 … that does not exist.
func freeName(path string) string {
	for n, name := 2, path; ; n++ {
		if !exists(name) {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

// conflicts reports whether a path changed since and nothing was said about that.
func (p *plan) conflicts() bool {
	return slices.ContainsFunc(p.changes, func(s *change) bool { return s.does == wire.UndoConflict })
}

// acts reports whether the undo changes the path.
func (s *change) acts() bool {
	switch s.does {
	case wire.UndoBack, wire.UndoRemoved, wire.UndoBeside, wire.UndoMerged:
		return true
	}
	return false
}

// answer tells the changes that the plan takes, or took.
func (k *Keeper) answer(p *plan) wire.UndoAnswer {
	a := wire.UndoAnswer{Count: map[string]int{}, Items: []wire.UndoItem{}, Calls: []wire.UndoCall{}}
	for _, m := range p.calls {
		a.Calls = append(a.Calls, k.show(m))
		if m.summary != nil {
			for _, l := range m.summary.Lost {
				if !m.has(l.What) {
					a.Lost = append(a.Lost, l)
				}
			}
		}
	}
	for _, s := range p.changes {
		folder := s.first.Was.Kind == kindDir || s.first.Was.Kind == kindGone && s.have.Kind == kindDir
		if !folder || !s.acts() && s.does != wire.UndoSame {
			a.Count[s.does]++
		}
		if s.does == wire.UndoBack && s.from == "" && !folder {
			a.Bytes += s.first.Was.Size
		}
		if !folder || !s.acts() {
			a.Items = append(a.Items, wire.UndoItem{
				Path: s.path, Does: s.does, Why: s.why, Size: s.first.Was.Size, To: s.beside,
			})
		}
	}
	rank := []string{
		wire.UndoLeft, wire.UndoConflict, wire.UndoBeside, wire.UndoMerged, wire.UndoRemoved, wire.UndoBack,
		wire.UndoSame,
	}
	slices.SortStableFunc(a.Items, func(x, y wire.UndoItem) int {
		return slices.Index(rank, x.Does) - slices.Index(rank, y.Does)
	})
	a.Items = a.Items[:min(len(a.Items), wire.MostUndoItem)]
	a.Word = p.word(a)
	return a
}

// has reports whether a manifest has an entry that is named so.
func (m *manifest) has(path string) bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool { return string(e.Path) == path })
}

func (p *plan) word(a wire.UndoAnswer) string {
	partial := a.Count[wire.UndoLeft] > 0 || a.Count[wire.UndoBeside] > 0 ||
		slices.ContainsFunc(a.Lost, func(l wire.Lost) bool { return !strings.HasPrefix(l.Why, againWords) })
	switch {
	case len(p.changes) == 0:
		return wire.UndoNothing
	case p.conflicts():
		return wire.UndoRefused
	case partial:
		return wire.UndoPart
	case !slices.ContainsFunc(p.changes, (*change).acts):
		return wire.UndoNothing
	}
	return wire.UndoAll
}

// show is a call as lists show it.
func (k *Keeper) show(m *manifest) wire.UndoCall {
	c := wire.UndoCall{
		ID: m.call.ID, Time: m.call.Time, Session: m.call.Session, Agent: m.call.Agent, CallID: m.call.CallID,
		Tool: m.call.Tool, Subject: m.call.Subject, Cwd: string(m.call.Cwd), Undoes: m.call.Undoes,
		Word: Part, Until: m.call.Time.Add(k.term(m)),
	}
	if s := m.summary; s != nil {
		c.Word, c.Files, c.Bytes, c.Settled, c.Outcome = s.Word, s.Files, s.Bytes, s.End != "", s.End
		c.Lost = s.Lost
	}
	c.Dumps = k.Dumps.ofCall(&m.call)
	if m.undone != nil {
		c.Undone = &wire.Undone{By: m.undone.By, Word: m.undone.Word, Time: m.undone.Time}
	}
	return c
}

// term is how long the files kept for a call stay.
func (k *Keeper) term(m *manifest) time.Duration {
	s := k.settings.Load()
	if m.summary != nil && m.summary.Bytes > Large {
		return s.LargeAge
	}
	return s.MaxAge
}

// mostListed is how many calls a list has that names no limit.
const mostListed = 100

// List returns the calls that something was kept for, the newest first.
func (k *Keeper) List(q wire.UndoQuery) wire.UndoList {
	l := wire.UndoList{Calls: []wire.UndoCall{}, Bytes: max(0, k.used.Load()), Vaults: k.vaults.all()}
	all := k.all()
	slices.Reverse(all)
	for _, m := range all {
		at := func(e entry) bool { return inside(string(e.Path), q.Path) }
		fits := (q.Session == "" || wire.IsSession(q.Session, m.call.Session)) && !m.call.Time.Before(q.Since) &&
			(q.Path == "" || slices.ContainsFunc(m.entries, at))
		if fits && len(l.Calls) < cmp.Or(q.Limit, mostListed) {
			l.Calls = append(l.Calls, k.show(m))
		}
	}
	return l
}
