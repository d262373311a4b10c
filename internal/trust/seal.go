package trust

import (
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Files are what one hook is made of. Paths are absolute; "" entries do not
// count, and what is missing is noted as missing.
type Files struct {
	Folder string    // the hook's own: no entry of it may be anybody else's to add
	Read   []string  // what defines it
	Run    []string  // what is executed for it: programs, their interpreters, what these are given
	Own    []string  // those of Run and Read whose content is the hook's own
	Absent []string  // what would be a part of it, but is no file
	Bad    []Refusal // what is wrong with it, whatever the disk says

	Contents bool // Own is compared byte for byte, whatever times and sizes say
}

// Seal is a hook's files as they were when they were looked at.
type Seal struct {
	c        *Checker
	files    Files
	own      []fact // of files.Own: what counts as content
	refusals []Refusal
	steps    atomic.Pointer[[]step]
}

// Seal looks at files and judges them.
func (c *Checker) Seal(files Files) *Seal {
	w, own := c.look(files)
	for _, f := range own[len(own)-w.appeared:] {
		w.refuse(Refusal{Path: f.path, Fact: "has come while hookd read the hook", Do: "hookd reload"})
	}
	s := &Seal{c: c.forgetful(), files: files, own: own, refusals: w.refusals}
	steps := slices.Clone(w.steps) // as long as it has to be: there are as many seals as hooks
	s.steps.Store(&steps)
	return s
}

// look walks the chains of all files. Own files that root has put there are
// root's business, unless the user is root: an upgrade of the system is no
// change of a hook.
func (c *Checker) look(files Files) (*walk, []fact) {
	w := c.walk()
	w.home, w.refusals = files.Folder, slices.Clone(files.Bad)
	if files.Folder != "" {
		w.path(files.Folder, folder)
	}
	for _, path := range files.Read {
		w.path(path, reading)
	}
	for _, path := range files.Run {
		w.path(path, running)
	}
	var own []fact
	for _, path := range files.Own {
		as := running
		if slices.Contains(files.Read, path) {
			as = reading
		}
		f, _ := w.path(path, as)
		if f.missing || f.uid != 0 || c.uid == 0 {
			own = append(own, w.content(path, f, files.Contents))
		}
	}
	for _, path := range files.Absent {
		if f, ok := w.passing(path); ok && f.is(unix.S_IFREG) {
			own = append(own, w.content(path, f, files.Contents)) // it is another hook now
			w.appeared++
		}
	}
	return w, own
}

// content is what tells that a file may hold something else than before. The
// time of the last change of its inode is none of it: a new link or a backup
// changes that. It only makes that the file is looked at again, and then its
// bytes tell, where they count.
func (w *walk) content(path string, f *fact, whole bool) fact {
	if f.missing {
		return fact{path: path, missing: true}
	}
	c := fact{path: path, dev: f.dev, ino: f.ino, mode: f.mode, size: f.size, mtime: f.mtime}
	if whole && f.is(unix.S_IFREG) {
		if f.size > maxSummed {
			w.refuse(Refusal{Path: path, Fact: fmt.Sprintf("is larger than %d MiB: what it holds cannot be allowed", maxSummed>>20), Do: "ls -l " + Quote(path)})
		} else {
			c.sum = fileSum(path)
		}
	}
	return c
}

// Own lists the files whose content is the hook's own.
func (s *Seal) Own() []string {
	if s == nil {
		return nil
	}
	return s.files.Own
}

// Refusals are all that was wrong when the files were looked at.
func (s *Seal) Refusals() []Refusal {
	if s == nil {
		return nil
	}
	return s.refusals
}

// With returns a copy of the seal that refuses for one more reason.
func (s *Seal) With(r Refusal) *Seal {
	next := &Seal{c: s.c, files: s.files, own: s.own, refusals: append([]Refusal{r}, s.refusals...)}
	next.steps.Store(s.steps.Load())
	return next
}

// Same reports whether two seals say the same of a hook's files: the same
// content, and the same refusals about the same files.
func (s *Seal) Same(o *Seal) bool {
	if s == nil || o == nil {
		return s == o
	}
	if !slices.Equal(s.own, o.own) || !slices.Equal(s.refusals, o.refusals) {
		return false
	}
	a, b := *s.steps.Load(), *o.steps.Load()
	return len(s.refusals) == 0 || slices.EqualFunc(a, b, func(x, y step) bool { return x.path == y.path && x.same(y.fact) })
}

// Changed says that a file is not what was sealed. The hook must be read again
// before it may run.
type Changed struct {
	Path    string
	Refusal *Refusal // what is wrong now; nil = it is only another
}

func (e *Changed) Error() string {
	if e.Refusal != nil {
		return e.Refusal.Error()
	}
	return fmt.Sprintf("%s is not what it was when hookd read it; type `hookd reload`", Quote(e.Path))
}

// Check compares the seal with the disk: one look at each step, no judgement
// where nothing has changed. Nil means that the hook may start. A *Refusal was
// there when the files were sealed and still is; a *Changed calls for a new
// seal. A nil Seal holds nothing and always passes.
func (s *Seal) Check() error { return s.CheckTelling(func(string) {}) }

// CheckTelling is a Check that tells looks of each path before it looks at it: a
// file system that hangs can hold it for ever.
func (s *Seal) CheckTelling(looks func(path string)) error {
	if s == nil {
		return nil
	}
	return s.check(s.c, looks)
}

// Recheck is the seal's Check, with what c remembers.
func (c *Checker) Recheck(s *Seal) error {
	if s == nil {
		return nil
	}
	return s.check(c, func(string) {})
}

func (s *Seal) check(c *Checker, looks func(path string)) error {
	changed := s.changed(c, looks)
	switch {
	case changed == "" && len(s.refusals) > 0:
		return &s.refusals[0]
	case changed == "":
		return nil
	case len(s.refusals) > 0:
		return s.again(c, changed)
	}
	w, own := c.look(s.files)
	if len(w.refusals) > 0 {
		return &Changed{Path: changed, Refusal: &w.refusals[0]}
	}
	for i := range max(len(own), len(s.own)) {
		switch {
		case i >= len(own) || i >= len(s.own):
			return &Changed{Path: changed}
		case own[i] != s.own[i]:
			return &Changed{Path: own[i].path}
		}
	}
	s.steps.Store(&w.steps) // only what stands around the hook has changed, for the better or not at all
	return nil
}

// again is the answer when something changed about files that were refused.
func (s *Seal) again(c *Checker, changed string) error {
	if w, _ := c.look(s.files); len(w.refusals) > 0 {
		return &Changed{Path: changed, Refusal: &w.refusals[0]}
	}
	return &Changed{Path: changed}
}

// changed returns the first path that is not as it was, "" when all are.
func (s *Seal) changed(c *Checker, looks func(path string)) string {
	steps := *s.steps.Load()
	for i := range steps {
		looks(steps[i].path)
		now := c.glance(steps[i].path, s.files.Folder)
		if !steps[i].same(&now) {
			return steps[i].path
		}
	}
	return ""
}
