package trust

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// fact is one step of a chain as the disk has it.
type fact struct {
	path         string
	missing      bool // or not to be looked at
	dev, ino     uint64
	mode         uint32 // as the system writes it
	uid, gid     uint32
	size         int64
	mtime, ctime int64  // in nanoseconds
	sum          string // of its bytes; "" = they were not read
}

func (f *fact) is(kind uint32) bool { return f.mode&unix.S_IFMT == kind }

// maxLinks is where the system gives up as well.
const maxLinks = 40

// walk gathers the facts of chains, each step once.
type walk struct {
	c        *Checker
	home     string // a folder whose files are looked at anew; "" = none
	steps    []step
	refusals []Refusal
	seen     map[string]int // path of a step to its place in steps
	appeared int            // files that were noted as absent
}

type step struct {
	*fact
	shared bool // its judgement hung on who is in a group
	as     role
}

func (c *Checker) walk() *walk { return &walk{c: c, seen: map[string]int{}} }

// path walks from / to path, which is absolute, and returns the real path and
// what is there. It stops where something is missing.
func (w *walk) path(path string, as role) (f *fact, ok bool) {
	at, rest := "/", path
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
	}
}

// passing walks a path without judging what is not judged anyway: nothing of
// it is executed as it stands.
func (w *walk) passing(path string) (f *fact, ok bool) {
	refusals := w.refusals
	f, ok = w.path(path, above)
	w.refusals = refusals
	return f, ok
}

// cutName takes the first name from a path, "" when there is none; "." and ""
// are no names, ".." is one, as it means the parent of where a link has led.
func cutName(path string) (name, rest string) {
	for rest = path; rest != "" && (name == "" || name == "."); {
		name, rest, _ = strings.Cut(rest, "/")
	}
	if name == "." {
		name = ""
	}
	return name, rest
}

// under is the path of name in dir: where path begins with it, that part of
// path, as what is looked at is kept.
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

// step looks at one path whose directory is real, and judges it. A path that
// has two roles is judged in both.
func (w *walk) step(path string, as role) (f *fact, ok bool) {
	i, known := w.seen[path]
	if known && (w.steps[i].as == as || as == above) {
		return w.steps[i].fact, !w.steps[i].missing
	}
	if !known {
		f := w.c.lookAt(path, w.home)
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

// refuse notes what is wrong, once.
func (w *walk) refuse(r Refusal) {
	for _, old := range w.refusals {
		if old == r {
			return
		}
	}
	w.refusals = append(w.refusals, r)
}

// same reports whether the step is as it was. Of a directory its entries do
// not count: those that matter are steps of their own. Where access hung on a
// group, an access list may have come: then the time of any change counts.
func (s *step) same(now *fact) bool {
	if s.missing || now.missing {
		return s.missing == now.missing
	}
	if s.dev != now.dev || s.ino != now.ino || s.mode != now.mode || s.uid != now.uid || s.gid != now.gid {
		return false
	}
	if s.is(unix.S_IFDIR) {
		return !s.shared || s.ctime == now.ctime
	}
	return s.size == now.size && s.mtime == now.mtime && s.ctime == now.ctime
}
