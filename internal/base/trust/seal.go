package trust

import (
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
)

// Files are the files of one hook. Paths are absolute; "" entries are ignored, and
// a missing file is sealed as missing.
type Files struct {
	Folder string    // the hook's own: no other user may add an entry to it
	Read   []string  // its definition
	Run    []string  // what is executed for it: programs, their interpreters, files among the arguments
	Search []string  // folders in which programs are looked up: no other user may add one
	Own    []string  // those of Run and Read whose content is the hook's own
	Listed []string  // directories whose entries may not come or go
	Code   []string  // directories whose code is part of it: what they have is in Read
	Given  []string  // data among Run, which only the hook's own script opens: it may change while the hook runs
	Absent []string  // paths that would be a part of it if there were files
	Bad    []Refusal // what is wrong with it besides

	Definition string   // the Sum of its definition
	Digested   []string // those of Run, Read and Own that Digest covers

	Contents bool // Own is compared byte for byte, whatever times and sizes say

	Signed map[string]Signed // by path, what files of Own must be: others are refused; nil = any is right
	Mend   string            // the command that makes files what is signed

	installed []string // those of Run and Read that only root could change when Add saw them
	read      []read   // of Own, where their bytes count: as Add has read them
}

// Signed holds the facts that a signature states of a regular file.
type Signed struct {
	Sum  string // SHA-256 of its bytes, in hexadecimal
	Exec bool   // its owner may execute it
}

// Seal is the state of a hook's files when they were read.
type Seal struct {
	c        *Checker
	files    Files
	own      []fact // of files.Own: what counts as content
	digest   string
	refusals []Refusal
	steps    atomic.Pointer[[]step]
}

// Seal reads and judges files.
func (c *Checker) Seal(files Files) *Seal {
	w, own := c.walkFiles(files)
	for _, f := range own[len(own)-w.appeared:] {
		w.refuse(Refusal{Path: f.path, Fact: "was created while hookd read the hook", Do: "hookd reload"})
	}
	s := &Seal{c: c.uncached(), own: own, digest: w.digest(files), refusals: w.refusals}
	files.read, files.Digested = nil, nil // they are of this moment
	s.files = files
	steps := slices.Clone(w.steps) // without spare capacity: each hook has a seal
	s.steps.Store(&steps)
	return s
}

// walkFiles walks the chains of all files, and returns the content facts of the files
// in files.Own. Of a file that only root can change it has none, and where a link of the
// user's leads to one, the link: an upgrade of the system does not change a hook.
func (c *Checker) walkFiles(files Files) (*walk, []fact) {
	w := c.walk()
	w.home, w.mend, w.refusals, w.read = files.Folder, files.Mend, slices.Clone(files.Bad), files.read
	if files.Folder != "" {
		w.path(files.Folder, folder)
	}
	for _, dir := range files.Search {
		w.search(dir)
	}
	for _, path := range files.Read {
		w.path(path, reading)
	}
	for _, path := range files.Run {
		w.path(path, files.role(path))
	}
	var own []fact
	for _, path := range files.Listed {
		f, _ := w.path(path, listed)
		own = append(own, w.content(path, f, false))
	}
	for _, path := range files.Own {
		f, _ := w.path(path, files.role(path))
		want, signed := files.Signed[path]
		switch {
		case signed:
			own = append(own, w.signed(path, f, want))
		case f.missing || f.uid != 0 || c.uid == 0 || w.led == changeable:
			own = append(own, w.content(path, f, files.Contents))
		case w.led != "":
			own = append(own, fact{path: path, sum: w.led})
		}
	}
	for _, path := range files.installed {
		if f, _ := w.path(path, files.role(path)); w.led != "" {
			own = append(own, w.content(path, f, files.Contents))
			w.appeared++
		}
	}
	for _, path := range files.Absent {
		if f, ok := w.follow(path); ok && f.is(unix.S_IFREG) {
			own = append(own, w.content(path, f, files.Contents)) // this changes the hook
			w.appeared++
		}
	}
	for _, dir := range files.Code {
		refusals := w.refusals
		w.path(dir, listed) // its time shows whether it has to be listed again
		w.refusals = refusals
		for _, path := range codeIn(dir) {
			if !slices.Contains(files.Read, path) && !slices.Contains(files.Run, path) {
				f, _ := w.path(path, reading)
				own = append(own, w.content(path, f, files.Contents))
				w.appeared++
			}
		}
	}
	w.markOnce(files)
	return w, own
}

// markOnce marks the steps that a second look does not need: the definition, which hookd has
// read, and directories and links of the system, which only root can change. Entries of a
// sticky directory, such as /tmp, come and go all the time.
func (w *walk) markOnce(files Files) {
	for i := range w.steps {
		s := &w.steps[i]
		switch {
		case s.missing:
		case s.as == reading:
			s.once = !slices.Contains(files.Own, s.path)
		case s.is(unix.S_IFDIR):
			s.once = s.path == "/" || s.mode&unix.S_ISVTX != 0 ||
				s.mode&0o022 == 0 && s.uid == 0 && w.c.isSystem(s.path)
		case s.is(unix.S_IFLNK):
			s.once = s.uid == 0 && w.c.isSystem(s.path)
		}
	}
}

// role is the use of a file of Run, Read or Own.
func (f Files) role(path string) role {
	switch {
	case slices.Contains(f.Read, path):
		return reading
	case slices.Contains(f.Given, path):
		return given
	}
	return running
}

// content returns the facts that differ when the content of a file may differ, and
// if whole, the digest of its bytes. The inode's time of change is not one of them:
// a new link or a backup changes it. It only causes another look.
func (w *walk) content(path string, f *fact, whole bool) fact {
	if f.missing {
		return fact{path: path, missing: true}
	}
	c := fact{path: path, dev: f.dev, ino: f.ino, mode: f.mode, size: f.size, mtime: f.mtime}
	if whole && f.is(unix.S_IFREG) {
		if f.size > maxHashed {
			tooLarge := fmt.Sprintf("is larger than %d MiB: its content cannot be allowed", maxHashed>>20)
			w.refuse(Refusal{Path: path, Fact: tooLarge, Do: "ls -l " + escape.Quote(path)})
		} else {
			c.sum = w.sum(path, f)
		}
	}
	return c
}

// sum returns the digest of the file with the fact f. It refuses a file that it cannot read,
// and one in whose place another one was read: then the next look sees a change.
func (w *walk) sum(path string, f *fact) string {
	i := slices.IndexFunc(w.read, func(r read) bool { return r.path == path })
	var r read
	if i >= 0 {
		r = w.read[i]
	} else {
		r = w.c.sum(path, w.home)
	}
	switch {
	case r.sum == "":
		unread := "cannot be read: its content cannot be allowed"
		w.refuse(Refusal{Path: path, Fact: unread, Do: "ls -l " + escape.Quote(path)})
	case r.isOf(f):
		return r.sum
	default:
		torn := *f
		torn.ctime = 0 // no file has that
		w.steps[w.seen[f.path]].fact = &torn
		w.refuse(Refusal{Path: path, Fact: "was changed while hookd read it", Do: "hookd reload"})
	}
	return ""
}

// signed returns the content facts of a file, and refuses a file that is not as it was
// signed.
func (w *walk) signed(path string, f *fact, want Signed) fact {
	c := w.content(path, f, true)
	itself := w.itself(path) // f is that of a link's target
	if c.sum != want.Sum || !itself.is(unix.S_IFREG) || itself.mode&unix.S_IXUSR != 0 != want.Exec {
		w.refuse(Refusal{Path: path, Fact: "is not as it was signed", Do: w.mend})
	}
	return c
}

// itself returns the fact of a path whose last link is not followed.
func (w *walk) itself(path string) *fact {
	if i, walked := w.seen[path]; walked {
		return w.steps[i].fact
	}
	return w.c.lstat(path, w.home)
}

// isOf reports whether a file that was read is the one of f, and is as it was then.
func (f fact) isOf(o *fact) bool {
	f.path, f.sum = o.path, o.sum
	return f == *o
}

// Own returns the files whose content is the hook's own.
func (s *Seal) Own() []string {
	if s == nil {
		return nil
	}
	return s.files.Own
}

// Refusals returns all that was wrong when the files were sealed.
func (s *Seal) Refusals() []Refusal {
	if s == nil {
		return nil
	}
	return s.refusals
}

// With returns a copy of the seal with one more refusal.
func (s *Seal) With(r Refusal) *Seal {
	next := &Seal{c: s.c, files: s.files, own: s.own, digest: s.digest, refusals: append([]Refusal{r}, s.refusals...)}
	next.steps.Store(s.steps.Load())
	return next
}

// Same reports whether two seals have the same content facts, and the same refusals
// about the same files.
func (s *Seal) Same(o *Seal) bool {
	if s == nil || o == nil {
		return s == o
	}
	if !slices.Equal(s.own, o.own) || !slices.Equal(s.refusals, o.refusals) {
		return false
	}
	a, b := *s.steps.Load(), *o.steps.Load()
	sameStep := func(x, y step) bool { return x.path == y.path && x.same(y.fact) }
	return len(s.refusals) == 0 || slices.EqualFunc(a, b, sameStep)
}

// Changed is the error for a file that has changed since it was sealed. The hook
// must be read again before it may run.
type Changed struct {
	Path    string
	Refusal *Refusal // what is wrong now; nil = nothing, the file only differs
}

func (e *Changed) Error() string {
	if e.Refusal != nil {
		return e.Refusal.Error()
	}
	return fmt.Sprintf("%s has changed since hookd read it; type `hookd reload`", escape.Quote(e.Path))
}

// Check compares the seal with the disk: it reads each step once, and judges only the
// steps that have changed. Nil means that the hook may start. A *Refusal is a refusal
// that the seal has and that still holds; after a *Changed the hook needs a new seal. A
// nil Seal always passes.
func (s *Seal) Check() error {
	_, err := s.Look(func(string) {})
	return err
}

// Look is a Check that calls looks with each path before it reads it: a file system that
// hangs can block it for ever. It returns the state that it has seen, for a second look.
func (s *Seal) Look(looks func(path string)) (*Look, error) {
	if s == nil {
		return nil, nil
	}
	return s.look(s.c, looks)
}

// Recheck is the seal's Check with the cache of c.
func (c *Checker) Recheck(s *Seal) error {
	if s == nil {
		return nil
	}
	_, err := s.look(c, func(string) {})
	return err
}

func (s *Seal) look(c *Checker, looks func(path string)) (*Look, error) {
	seen := &Look{strict: s.files.Contents, folder: s.files.Folder, steps: *s.steps.Load()}
	changed := seen.first(c, looks)
	switch {
	case changed == "" && len(s.refusals) > 0:
		return nil, &s.refusals[0]
	case changed == "":
		return seen, nil
	case len(s.refusals) > 0:
		return nil, s.recheckRefused(c, changed)
	}
	w, own := c.walkFiles(s.files)
	if len(w.refusals) > 0 {
		return nil, &Changed{Path: changed, Refusal: &w.refusals[0]}
	}
	for i := range max(len(own), len(s.own)) {
		switch {
		case i >= len(own) || i >= len(s.own):
			return nil, &Changed{Path: changed}
		case own[i] != s.own[i] && (own[i].path != s.own[i].path || !s.mayChange(own[i].path)):
			return nil, &Changed{Path: own[i].path}
		}
	}
	s.steps.Store(&w.steps) // only folders, links and data around the hook have changed, and all are trusted
	seen.steps = w.steps
	seen.walked()
	return seen, nil
}

// mayChange reports whether a file is data that changes while the hook runs. Where the
// contents of files are allowed, none is.
func (s *Seal) mayChange(path string) bool {
	return !s.files.Contents && slices.Contains(s.files.Given, path)
}

// recheckRefused returns the error for files that were refused and have changed.
func (s *Seal) recheckRefused(c *Checker, changed string) error {
	if w, _ := c.walkFiles(s.files); len(w.refusals) > 0 {
		return &Changed{Path: changed, Refusal: &w.refusals[0]}
	}
	return &Changed{Path: changed}
}
