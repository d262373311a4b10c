package undo

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/wire"
)

// lookTime bounds a look at a repository, which may go on when the verdict is given.
const lookTime = 20 * time.Second

// unknownWait is how long a call of an unknown program waits for the look at a repository that is known. A look that
// goes on afterwards tells by their times which files the call may have changed.
const unknownWait = 10 * time.Millisecond

// sight is the look at a repository before a call.
type sight struct {
	runs   atomic.Bool               // the call may run
	seen   atomic.Pointer[treeState] // nil = there is none yet
	looked chan struct{}             // closed when it has ended
}

// wait reports whether the look has ended in time.
func (s *sight) wait(most time.Duration) bool { return !pause.For(most, s.looked) }

// before is the repository of an open call before it; nil = it has none, or not yet.
func (o *open) before() *treeState {
	if o.sight == nil {
		return nil
	}
	return o.sight.seen.Load()
}

// openAt returns the snapshots of the open calls of a folder, by id; nil = not all are known.
func (k *Keeper) openAt(top string) map[string]*treeState {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := map[string]*treeState{}
	for id, o := range k.open {
		if s := o.before(); o.repo == top && s == nil {
			return nil
		} else if o.repo == top {
			all[id] = s
		}
	}
	return all
}

// Warm looks at the repository of a folder, so that later looks are quick. It does not wait.
func (k *Keeper) Warm(dir string) {
	top := rootOf(dir)
	if k.settings.Load().Off || top == "" {
		return
	}
	go k.bases.refresh(top)
}

// sees begins a look at the repository of a call.
func (k *Keeper) sees(top string, o *open, until time.Time) *sight {
	s := &sight{looked: make(chan struct{})}
	k.mu.Lock()
	o.repo, o.sight = top, s
	k.mu.Unlock()
	go func() {
		defer close(s.looked)
		b, err := k.bases.of(top)
		if err == nil {
			if last := b.last.Load(); last != nil {
				s.seen.Store(last)
			}
			err = errLate
			if b.take(until) {
				var seen *treeState
				seen, err = b.look(k.settings.Load(), o.begun, time.Now().Add(lookTime), &s.runs, o.call.ID)
				b.give()
				if seen != nil {
					s.seen.Store(seen)
				}
			}
		}
		if err != nil {
			k.log.Debug("no look at a repository before a call", zap.String("path", top), zap.Error(err))
		}
	}()
	return s
}

// unknownFirst begins a look at the repository for a call that runs something unknown, and returns a
// function that waits for it while there is time.
func (p *keeping) unknownFirst(why string) (wait func()) {
	top := rootOf(string(p.call.Cwd))
	if top == "" {
		return func() { p.lost.add(wire.LostElse, "not known: "+why+"; nothing is kept, as it runs in no repository") }
	}
	p.call.Repo = Path(top)
	if p.out == nil {
		if err := p.begin(); err != nil {
			return func() { p.lost.add(wire.LostElse, "not kept: "+reason(err)) }
		}
	}
	until := p.o.begun.Add(p.k.settings.Load().Wait)
	s := p.k.sees(top, p.o, until)
	return func() {
		whole := s.wait(time.Until(p.o.begun.Add(unknownWait)))
		if !whole && s.seen.Load() == nil { // nothing is kept yet
			whole = s.wait(time.Until(until))
		}
		if !whole {
			p.markLast(top)
		}
		s.runs.Store(true)
		p.paths++
		p.lost.add(wire.LostElse, "not known: "+why+"; "+seenWords(top, s.seen.Load(), whole))
	}
}

// seenWords say how much of a repository is kept.
func seenWords(top string, s *treeState, whole bool) string {
	what := "its folder"
	if git.Top(top) != "" {
		what = "its repository"
	}
	switch {
	case s == nil:
		return what + " is looked at for the first time, while it runs"
	case s.more != "":
		return what + " is kept in part: " + s.more
	case !whole && !s.begun.IsZero():
		return what + " is kept as it was at " + s.begun.Format(time.TimeOnly) + ", nothing outside"
	}
	return what + " is kept, nothing outside"
}

// markLast notes that the last snapshot is that of the call, in case that hookd is killed before the look
// has ended.
func (p *keeping) markLast(top string) {
	b, err := p.k.bases.of(top)
	if err == nil {
		err = b.markOnly(p.call.ID)
	}
	if err != nil {
		p.lost.add(wire.LostElse, "not kept: "+reason(err))
	}
}

// before returns the repository of a call as it was before it.
func (k *Keeper) before(m *manifest, o *open) map[string]baseState {
	b, err := k.bases.of(string(m.call.Repo))
	if err != nil {
		return nil
	}
	files := map[string]baseState{}
	if last := b.last.Load(); last != nil { // a first look that has ended meanwhile
		for path, f := range last.files {
			if f.Was.CTime < m.call.Time.Add(-coarse).UnixNano() {
				files[path] = f
			}
		}
	}
	own := map[string]baseState{}
	if o.sight == nil {
		own, _ = b.read(m.call.ID)
	} else {
		o.sight.wait(lookTime)
		if s := o.before(); s != nil {
			own = s.files
		}
	}
	maps.Copy(files, own)
	return files
}

// addChanged adds to a call the paths of its repository that are not as they were before it. Paths that
// other calls name are theirs.
func (k *Keeper) addChanged(m *manifest, o *open) {
	if m.call.Repo == "" {
		return
	}
	b, err := k.bases.of(string(m.call.Repo))
	if err != nil {
		k.log.Warn("what a call did in its repository is not known", zap.String("call", m.call.ID), zap.Error(err))
		return
	}
	theirs, also := k.changedBy(m)
	before := k.before(m, o)
	for path, f := range before {
		if theirs[path] {
			continue
		}
		now, err := look(path)
		if err != nil || f.Was.untouched(now) {
			continue
		}
		e := entry{Path: Path(path), Effect: effectWrite, By: byNote, Was: f.Was, Xattr: f.Xattr, Maybe: also}
		if now.Kind == kindGone {
			e.Effect = effectDelete
		} else if e.Maybe == "" && f.Was.Kind != kindDir {
			e.Maybe = "it changed while the call ran, by it or by you"
		}
		if f.Was.Kind == kindFile {
			kept := filepath.Join(m.dir, keptFolder, fmt.Sprintf("s%06d", len(m.entries)))
			err := os.MkdirAll(filepath.Dir(kept), 0o700)
			if err = errors.Join(err, os.Link(filepath.Join(b.dir, f.Kept), kept)); err != nil {
				k.log.Warn("a file of a snapshot is not kept", zap.String("path", path), zap.Error(err))
				e.By, e.Why = byNone, reason(err)
			} else {
				e.By, e.At = byCopy, Path(kept)
			}
		}
		m.entries = append(m.entries, e)
	}
	if m.call.Mark != "" {
		k.addMade(m, b, before, theirs)
	}
}

// addMade adds the paths that a step made.
func (k *Keeper) addMade(m *manifest, b *baseline, before map[string]baseState, theirs map[string]bool) {
	k.bases.refresh(b.top)
	now := b.last.Load()
	if now == nil {
		return
	}
	for path := range now.files {
		if _, was := before[path]; !was && !theirs[path] {
			m.entries = append(m.entries, entry{Path: Path(path), Effect: effectCreate, By: byNote, Was: gone})
		}
	}
}

// changedBy returns the paths of a call and the paths that other calls name which ran at the same time, or since. also
// says which other call may have changed further paths; "" = none.
func (k *Keeper) changedBy(m *manifest) (paths map[string]bool, also string) {
	paths = map[string]bool{}
	for _, o := range k.since(m.call.Time) {
		if o.call.ID != m.call.ID && o.summary != nil && o.summary.End != "" && o.summary.Closed.Before(m.call.Time) {
			continue
		}
		for _, e := range o.entries {
			paths[string(e.Path)] = true
		}
		one, two := string(o.call.Repo), string(m.call.Repo)
		other := o.call.ID != m.call.ID && o.call.Mark == "" && one != "" && m.call.Mark == ""
		if other && (inside(one, two) || inside(two, one)) {
			also = "call " + o.call.ID[max(0, len(o.call.ID)-8):] + " ran at the same time, and may have done it"
		}
	}
	return paths, also
}
