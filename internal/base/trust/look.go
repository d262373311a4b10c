package trust

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
)

// Look is the state of a hook's files at its check. Again compares it with the disk: so an
// answer counts only if no other version of a file was there in between, not even for a
// moment. A file that was changed and put back differs in the time of its last change, which
// no program can set.
//
// Again does not see a change of a file in a memory file system through a shared mapping, nor
// a file that came into the hook's own folder and left it again.
type Look struct {
	strict  bool   // data counts, too
	folder  string // the hook's own; entries come and go in it
	steps   []step
	folders []times // by step: of directories
	newest  int64   // last change of a file, in nanoseconds
}

// times are the times of a directory: mtime changes with its entries, ctime also with
// itself.
type times struct{ mtime, ctime int64 }

// first compares the steps of a seal with the disk, and notes the differences that do not
// count. It returns the first path that is not as it was, "" when all are.
func (l *Look) first(c *Checker, looks func(path string)) (changed string) {
	l.folders = make([]times, len(l.steps))
	for i := range l.steps {
		s := &l.steps[i]
		looks(s.path)
		now := c.current(s.path, l.folder)
		if !s.same(&now) {
			return s.path
		}
		l.note(i, &now)
	}
	return ""
}

// walked notes steps that were just read.
func (l *Look) walked() {
	l.folders, l.newest = make([]times, len(l.steps)), 0
	for i := range l.steps {
		l.note(i, l.steps[i].fact)
	}
}

func (l *Look) note(i int, now *fact) {
	switch {
	case now.missing, l.steps[i].once:
	case now.is(unix.S_IFDIR):
		l.folders[i] = times{now.mtime, now.ctime}
	case l.counts(i):
		l.newest = max(l.newest, now.ctime)
	}
}

// counts reports whether a change of a step is one of the hook.
func (l *Look) counts(i int) bool { return l.strict || l.steps[i].as != given }

// clockTick is the coarsest step of the clock by which Linux dates changes of files.
const clockTick = 10 * time.Millisecond

// Young returns how long it takes until another change of the files is sure to have another
// date; 0 = it has one now. A nil Look is never young.
func (l *Look) Young() time.Duration {
	if l == nil {
		return 0
	}
	age := time.Since(time.Unix(0, l.last()))
	if age < 0 { // the clock was set back: the next change has an earlier date
		return 0
	}
	return max(0, clockTick-age)
}

// last returns when the hook's files last changed, in nanoseconds; 0 = there are none.
func (l *Look) last() int64 {
	last := l.newest
	for i, dir := range l.folders {
		if dir.ctime > last && l.moved(i) {
			last = dir.ctime
		}
	}
	return last
}

// moved reports whether the last change of a directory may be one of itself, such as a move:
// one of its entries alone is that of no file of the hook.
func (l *Look) moved(i int) bool {
	dir := l.folders[i]
	above := slices.IndexFunc(l.steps, func(s step) bool { return s.path == filepath.Dir(l.steps[i].path) })
	return dir.ctime != dir.mtime || above >= 0 && dir.ctime-l.folders[above].mtime < int64(clockTick)
}

// MayBeSaved reports whether the hook's files may change without being allowed again.
func (l *Look) MayBeSaved() bool { return l != nil && !l.strict }

// Swapped is the error for a file that has changed since the first look.
type Swapped struct{ Path string }

func (e *Swapped) Error() string {
	path := escape.Quote(e.Path)
	return fmt.Sprintf("%s changed while the hook ran, so its answer does not count; type `ls -l %s`", path, path)
}

// Again returns a *Swapped if a file of the hook has changed since the first look, also if it
// is now as it was. looks is called with each path before it is read.
func (l *Look) Again(looks func(path string)) error {
	if l == nil {
		return nil
	}
	var entries map[string]bool // directories whose entries have changed
	for i := range l.steps {
		s := &l.steps[i]
		if s.once || s.missing && !entries[filepath.Dir(s.path)] {
			continue
		}
		looks(s.path)
		now := lstat(s.path)
		swapped := false
		switch {
		case s.missing: // it may be there now: a hook writes such a file itself
			swapped = l.strict && !now.missing || l.searched(filepath.Dir(s.path))
		case now.missing:
			swapped = l.counts(i)
		case s.is(unix.S_IFDIR):
			moved := now.ctime != l.folders[i].ctime
			if now.mtime != l.folders[i].mtime {
				moved = moved && entries[filepath.Dir(s.path)]
				if entries == nil {
					entries = map[string]bool{}
				}
				entries[s.path] = true
			}
			swapped = !s.same(&now) || moved
		default:
			swapped = !s.same(&now) && l.counts(i)
		}
		if swapped {
			return &Swapped{Path: s.path}
		}
	}
	return nil
}

// searched reports whether programs are looked up in a directory.
func (l *Look) searched(dir string) bool {
	for i := range l.steps {
		if l.steps[i].path == dir {
			return l.steps[i].as == folder && dir != l.folder
		}
	}
	return false
}
