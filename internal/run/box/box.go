// Package box runs one program so that it reaches only the things that a profile grants: it reads the system
// and the project, writes the project or nothing, and sees no secret, no process of the
// machine, and no host but those of the profile.
//
// Promises. Nothing of the program runs before the whole box stands; where it cannot be made, Run
// says why and nothing has run. The strongest that the machine has is taken: on Linux namespaces,
// mounts and seccomp, else Landlock and seccomp; on macOS seatbelt. It needs no root and no other
// program (macOS: sandbox-exec). The program keeps its terminal, its process group, its input and
// its exit code, and with it ends all that it has started.
//
// It does not hide that files exist, limits neither memory nor time, and cannot stop a flaw of the
// kernel. Files that a box writes into the project, or into caches of package managers, may run outside
// the box later. It judges no command: that is done before.
package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// Exit codes of a box itself.
const (
	exitFailed = 125 // the box could not be made: nothing has run
)

// Level is how strong a box is.
type Level string

// The levels, the strongest first.
const (
	Namespaces Level = "namespaces" // user, mount, pid, net and ipc namespaces, and seccomp
	Landlock   Level = "landlock"   // Landlock and seccomp
	Seatbelt   Level = "seatbelt"   // of macOS
)

// Spec is a box and the program in it. Paths are absolute and clean.
type Spec struct {
	Profile string      // its name, which the program finds in HOOKD_BOX
	Write   []string    // what may be written, with all below it; of two nested ones both
	Protect []string    // below Write, that may only be read
	Watch   []string    // below Write, that is not there and must not be made: it would run later
	Hide    []string    // that can be neither read nor written
	Sockets []string    // folders where sockets of the machine with relative names may be
	Show    []string    // what is read, where a private folder would cover it
	Set     [][2]string // variables that Env has no value for
	// Overlay is a folder of caches under an overlay that takes all changes, and goes with the box; "" = there is none.
	// Where none can be made, caches are in CacheHome, with Links: in /tmp of the box a name, and where it leads.
	Overlay   string
	CacheHome string
	Links     [][2]string
	// Proxy serves the one way out of the box's network: l listens inside, where proxies of the environment
	// say. It ends when l is closed. Nil = there is no network.
	Proxy func(l *os.File) `json:"-"`
	Level Level            // the only one to try; "" = the strongest
	alone bool             // without a supervisor

	Argv []string `json:"-"`
	Env  []string `json:"-"` // of the program, before secrets are taken out
	Cwd  string
}

// Ended is how a box ended.
type Ended struct {
	Level Level    `json:"level"`
	Exit  int      `json:"exit"`           // of the program; 128 and the signal that ended it
	Kept  []string `json:"kept,omitempty"` // files that were made although they run later: where they are now
}

// Begun are the process and the descriptors of a box that was begun before Go has started, with its filter.
type Begun struct {
	PID, Report, Listener, Lock int
	Filter                      []byte
}

// CannotError says why a box could not be made.
type CannotError struct {
	Why  string
	less bool // without Overlay, or a supervisor, it may be made
}

func (e *CannotError) Error() string { return e.Why }

// RanError is a fault of a box whose program has run.
type RanError struct{ Err error }

func (e *RanError) Error() string { return e.Err.Error() }

func (e *RanError) Unwrap() error { return e.Err }

func cannot(format string, args ...any) error { return &CannotError{Why: fmt.Sprintf(format, args...)} }

// clean sorts paths, so that a folder stands before its contents, and drops repeated ones.
func clean(paths []string) (list []string) {
	sort.Strings(paths)
	for i, p := range paths {
		if i == 0 || p != paths[i-1] {
			list = append(list, p)
		}
	}
	return list
}

// slot is a folder that stands for /tmp where a box has none of its own. To make and to remove a folder takes most
// file systems longer than the rest of a box, so slots stay when they are as they were made, and their boxes lock them.
type slot struct {
	dir   string
	lock  int         // descriptor
	links [][2]string // as in Spec; all are in one folder
}

// temporary takes the first slot that no box has; release gives it back.
func temporary(s *Spec) (*slot, error) {
	dir := value(s.Env, "TMPDIR")
	if !filepath.IsAbs(dir) {
		dir = "/tmp"
	}
	all := filepath.Join(dir, "hookd-boxes-"+strconv.Itoa(os.Getuid()))
	err := makeOwn(all)
	if namespace, e := os.Readlink("/proc/self/ns/user"); err != nil && e == nil { // it has numbers of users of its own
		all += "-" + strings.Trim(namespace, "user:[]")
		err = makeOwn(all)
	}
	for n := 0; err == nil; n++ {
		t, is := &slot{dir: all + "/" + strconv.Itoa(n), links: s.Links}, false
		if is, err = t.take(); is {
			return t, nil
		}
	}
	return nil, cannot("make a temporary folder: %v", err)
}

// take reports whether the slot is this box's now. One that is not as it was made is of a box that was killed: it is
// made again, since programs of that box may still run and write the old one.
func (t *slot) take() (is bool, err error) {
	for {
		err := syscall.Mkdir(t.dir, 0o700)
		made := err == nil
		if !made && err != syscall.EEXIST {
			return false, err
		}
		t.lock, err = syscall.Open(t.dir, syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		switch err {
		case nil:
		case syscall.ENOENT: // another box has just removed it
			continue
		case syscall.EACCES: // so left by a box that was killed
			return false, nil
		default:
			return false, err
		}
		if err = syscall.Flock(t.lock, syscall.LOCK_EX|syscall.LOCK_NB); err == nil && t.isThere() {
			if made {
				err = t.fill()
			}
			if err == nil && t.isAsMade() {
				return true, nil
			}
			if e := os.RemoveAll(t.dir); err == nil && e != nil {
				err = syscall.EWOULDBLOCK
			}
		}
		syscall.Close(t.lock)
		switch err {
		case nil:
		case syscall.EWOULDBLOCK, syscall.EEXIST:
			return false, nil
		default:
			return false, err
		}
	}
}

// isThere reports whether the slot's name still leads to the locked folder.
func (t *slot) isThere() bool {
	var named, locked syscall.Stat_t
	return syscall.Lstat(t.dir, &named) == nil && syscall.Fstat(t.lock, &locked) == nil && named.Ino == locked.Ino
}

// at is where a link of the slot is.
func (t *slot) at(link [2]string) string { return strings.Replace(link[0], "/tmp", t.dir, 1) }

// fill makes the links.
func (t *slot) fill() error {
	for i, l := range t.links {
		if i == 0 {
			if err := syscall.Mkdir(filepath.Dir(t.at(l)), 0o700); err != nil {
				return err
			}
		}
		if err := syscall.Symlink(l[1], t.at(l)); err != nil {
			return err
		}
	}
	return nil
}

// isAsMade reports whether a slot has its links and nothing else.
func (t *slot) isAsMade() bool {
	names, err := listed(t.dir, maxNames)
	if err != nil || len(t.links) == 0 {
		return err == nil && len(names) == 0
	}
	in := filepath.Dir(t.at(t.links[0]))
	if len(names) != 1 || ownFolder(in) != nil { // a link could lead anywhere
		return false
	}
	if names, err = listed(in, maxNames); err != nil || len(names) != len(t.links) {
		return false
	}
	for _, l := range t.links {
		if to, err := os.Readlink(t.at(l)); err != nil || to != l[1] {
			return false
		}
	}
	return true
}

// release gives a slot back, without what the box has left there. It follows no link of the box.
func (t *slot) release() {
	if ownFolder(t.dir) != nil || !t.isAsMade() {
		_ = syscall.Fchmod(t.lock, 0o700)
		_ = os.RemoveAll(t.dir) // else the next box does
	}
	syscall.Close(t.lock)
}

// makeOwn makes a folder of this user alone, or says why there is none.
func makeOwn(dir string) error {
	err := syscall.Mkdir(dir, 0o700)
	if err == syscall.EEXIST {
		return ownFolder(dir)
	}
	return err
}

// ownFolder says why a folder, which any user may have made, is not this user's alone; nil = it is.
func ownFolder(dir string) error {
	var st syscall.Stat_t
	switch err := syscall.Lstat(dir, &st); {
	case err != nil:
		return err
	case st.Mode&syscall.S_IFMT != syscall.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0:
		return fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	return nil
}

// lookPath finds a program as a shell does.
func lookPath(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // of the project: it could be another program
		}
		file := filepath.Join(dir, name)
		var st syscall.Stat_t
		if syscall.Stat(file, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Mode&0o111 != 0 {
			return file, nil
		}
	}
	return "", cannot("%s: there is no such program in PATH", name)
}

// links lists the protected paths that a link on their way leads elsewhere, each with its real path; "" = nowhere. Then
// Protect has the real paths, too, and none that leads nowhere. No mount protects a link.
func (s *Spec) links() (list [][2]string) {
	isLink, protect := map[string]bool{}, s.Protect[:0:0]
	for _, path := range s.Protect {
		real := path
		for at := path; real == path && !slices.Contains(s.Write, at) && at != "/"; at = filepath.Dir(at) {
			is, known := isLink[at]
			if !known {
				var st syscall.Stat_t
				is = syscall.Lstat(at, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK
				isLink[at] = is
			}
			if is {
				real, _ = filepath.EvalSymlinks(path) // it may lead nowhere
				list = append(list, [2]string{path, real})
			}
		}
		if real != "" {
			protect = append(protect, path)
		}
		if real != "" && real != path {
			protect = append(protect, real)
		}
	}
	s.Protect = protect
	return list
}

// quarantine takes the files that Watch forbids out of the way, and protected paths that lead elsewhere now: nothing
// of the box runs any more. It returns where they are.
func quarantine(watch []string, links [][2]string) (kept []string, err error) {
	for _, l := range links {
		if real, _ := filepath.EvalSymlinks(l[0]); real != l[1] { // "" where it leads nowhere
			watch = append(watch[:len(watch):len(watch)], l[0])
		}
	}
	l := lister{} // of now
	for _, path := range watch {
		if !l.there(path) {
			continue
		}
		path = firstLink(path)
		to := freeName(path)
		if e := renameIn(filepath.Dir(path), filepath.Base(path), filepath.Base(to)); e != nil {
			err = &RanError{errors.Join(err, fmt.Errorf("set %s aside: %w", path, e))}
			continue
		}
		kept = append(kept, to)
	}
	return kept, err
}

// firstLink returns the first link on the way to a path, or the path: a program in the box has made
// that link, and the file behind it may be another one's.
func firstLink(path string) string {
	for i := range path {
		var st syscall.Stat_t
		if i > 0 && path[i] == '/' && syscall.Lstat(path[:i], &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			return path[:i]
		}
	}
	return path
}

// freeName returns a name beside path that nothing has and no program looks for.
func freeName(path string) string {
	dir, name := filepath.Split(path)
	for n := 1; ; n++ {
		to := fmt.Sprintf("%skept-by-hookd-%d-%s", dir, n, strings.TrimPrefix(name, "."))
		if !there(to) {
			return to
		}
	}
}

// within reports whether path is folder or lies below it; both are clean.
func within(path, folder string) bool {
	rest, below := strings.CutPrefix(path, folder)
	return below && (rest == "" || rest[0] == '/' || folder == "/")
}

// privateOf returns the private folder that path lies in; "" = in none.
func privateOf(path string) string {
	for _, dir := range private {
		if within(path, dir) {
			return dir
		}
	}
	return ""
}
