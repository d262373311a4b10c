package trust

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fact is one step of a chain as it is on the disk.
type fact struct {
	path         string
	missing      bool // or it cannot be read
	dev, ino     uint64
	mode         uint32 // as the system writes it
	uid, gid     uint32
	size         int64
	mtime, ctime int64  // in nanoseconds
	sum          string // of its bytes; "" = they were not read
}

// lstat returns the fact of a path, without following a link at its end.
func lstat(path string) fact {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return fact{path: path, missing: true}
	}
	return factOf(path, &st)
}

func (f *fact) is(kind uint32) bool { return f.mode&unix.S_IFMT == kind }

// fileMode is the mode as package os writes it.
func (f *fact) fileMode() fs.FileMode {
	mode := fs.FileMode(f.mode & 0o777)
	for _, bit := range [...]struct {
		system uint32
		mode   fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if f.mode&bit.system != 0 {
			mode |= bit.mode
		}
	}
	switch f.mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	return mode
}

// maxLinks is how many links the system follows in one path.
const maxLinks = 40

// walk collects the facts of chains, each step once.
type walk struct {
	c        *Checker
	home     string // a folder whose files are not cached; "" = none
	mend     string // see Files.Mend
	steps    []step
	refusals []Refusal
	seen     map[string]int // path of a step to its place in steps
	appeared int            // files of Files.Absent that exist
	read     []read         // see Files.read
	led      string         // how the user can change what the last path leads to, see path
}

type step struct {
	*fact
	shared bool // its judgement depends on the members of a group
	as     role
	once   bool // a second look does not need it, see markOnce
}

// usualSteps is how many a hook has, with room: a thousand of them are walked in one scan.
const usualSteps = 32

func (c *Checker) walk() *walk {
	return &walk{c: c, seen: make(map[string]int, usualSteps), steps: make([]step, 0, usualSteps)}
}

// changeable is the led of a file that the user can change itself, or replace. LinkTo begins
// that of a file to which the user has only a link: where that leads.
const (
	changeable = "itself"
	LinkTo     = "link to "
)

// isRoots reports whether only root can change a step, or replace root's entries there.
func (f *fact) isRoots() bool {
	return f.uid == 0 && (f.is(unix.S_IFLNK) || f.mode&0o022 == 0 || f.is(unix.S_IFDIR) && f.mode&unix.S_ISVTX != 0)
}

// path walks from / to path, which is absolute, and returns the fact of its end. It
// stops where a step is missing: then ok is false. It sets led, "" = root alone can change it.
func (w *walk) path(path string, as role) (f *fact, ok bool) {
	at, rest := "/", path
	w.led = ""
	f, _ = w.step(at, above)
	for links := 0; ; {
		var name string
		if name, rest = cutName(rest); name == "" {
			return f, true
		}
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next, role := under(at, name, path), above
		if last, _ := cutName(rest); last == "" {
			role = as
		}
		if f, ok = w.step(next, role); !ok {
			return f, false
		}
		if !f.isRoots() {
			w.led = changeable
		}
		if !f.is(unix.S_IFLNK) {
			at = next
			continue
		}
		target, err := w.c.readLink(next, w.home)
		if links++; err != nil || links > maxLinks {
			return f, false
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
		if !f.isRoots() {
			w.led = LinkTo + under(at, strings.Trim(rest, "/"), "") // not cleaned: .. may be behind a link
		}
	}
}

// follow walks a path without refusals: for a file that is not executed.
func (w *walk) follow(path string) (f *fact, ok bool) {
	refusals := w.refusals
	f, ok = w.path(path, above)
	w.refusals = refusals
	return f, ok
}

// search walks to a folder of PATH, or to the folder in which it would be created.
func (w *walk) search(dir string) {
	if f, ok := w.path(dir, folder); !ok {
		w.path(filepath.Dir(f.path), folder)
	}
}

// cutName returns the first name of a path and the rest. It skips "." and "", but
// not "..", which means the parent of a link's target.
func cutName(path string) (name, rest string) {
	for rest = path; rest != "" && (name == "" || name == "."); {
		name, rest, _ = strings.Cut(rest, "/")
	}
	if name == "." {
		name = ""
	}
	return name, rest
}

// under returns the path of name in dir. Where path begins with it, it is that part
// of path, which allocates nothing.
func under(dir, name, path string) string {
	if dir == "/" {
		dir = ""
	}
	end := len(dir) + 1 + len(name)
	if len(path) >= end && path[:len(dir)] == dir && path[len(dir)] == '/' && path[len(dir)+1:end] == name {
		return path[:end]
	}
	return dir + "/" + name
}

// step reads one path whose directory is real, and judges it. A path with two roles
// is judged in both.
func (w *walk) step(path string, as role) (f *fact, ok bool) {
	i, known := w.seen[path]
	if known && (w.steps[i].as == as || as == above || as == given && w.steps[i].as > given) {
		return w.steps[i].fact, !w.steps[i].missing
	}
	if !known {
		f := w.c.lstat(path, w.home)
		i = len(w.steps)
		w.seen[path] = i
		w.steps = append(w.steps, step{fact: f, as: as})
	}
	s := &w.steps[i]
	s.as = as
	if s.missing {
		return s.fact, false
	}
	bad, shared := w.c.judge(s.fact, as)
	s.shared = s.shared || shared
	if bad != nil {
		w.refuse(*bad)
	}
	return s.fact, true
}

// refuse adds a refusal unless there is the same one.
func (w *walk) refuse(r Refusal) {
	for _, old := range w.refusals {
		if old == r {
			return
		}
	}
	w.refusals = append(w.refusals, r)
}

// same reports whether the step is unchanged. The entries of a directory do not count:
// the entries that matter are steps of their own. Where the judgement depends on a
// group, an access list may have been added: then the time of any change counts.
func (s *step) same(now *fact) bool {
	if s.missing || now.missing {
		return s.missing == now.missing
	}
	if s.dev != now.dev || s.ino != now.ino || s.mode != now.mode || s.uid != now.uid || s.gid != now.gid {
		return false
	}
	if s.is(unix.S_IFDIR) {
		return (!s.shared || s.ctime == now.ctime) && (s.as != listed || s.mtime == now.mtime)
	}
	return s.size == now.size && s.mtime == now.mtime && s.ctime == now.ctime
}
