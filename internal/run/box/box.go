// Package box runs one program so that it reaches only the things that a profile grants: it reads the system
// and the project, writes the project or nothing, and sees no secret, no network and no process of
// the machine.
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
	// Layer is a folder of caches with a layer that takes all changes, and goes with the box; "" = there is none.
	// Where none can be made, caches are in CacheHome, with Links: in /tmp of the box a name, and where it leads.
	Layer     string
	CacheHome string
	Links     [][2]string
	// Proxy serves the one way out of the box's network: l listens inside, where proxies of the environment
	// say. It ends when l is closed. Nil = there is no network.
	Proxy func(l *os.File)
	Level Level // the only one to try; "" = the strongest

	Argv []string
	Env  []string // of the program, before secrets are taken out
	Cwd  string
}

// Ended is how a box ended.
type Ended struct {
	Level Level    `json:"level"`
	Exit  int      `json:"exit"`           // of the program; 128 and the signal that ended it
	Kept  []string `json:"kept,omitempty"` // files that were made although they run later: where they are now
}

// CannotError says why a box could not be made.
type CannotError struct {
	Why   string
	layer bool // without Layer it may be made
}

func (e *CannotError) Error() string { return e.Why }

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

// temporary makes the folder that stands for /tmp where a box has none of its own. clear removes it. The
// wrapper of another box may have been killed: its folder is removed here.
func temporary(s *Spec) (string, error) {
	all := filepath.Join(os.TempDir(), "hookd-boxes-"+strconv.Itoa(os.Getuid()))
	// Process ids count in one namespace: in a container others have the same numbers.
	space, _ := os.Readlink("/proc/self/ns/pid")
	space = strings.Trim(space, "pid:[]") + "-"
	dir := all + "/" + space + strconv.Itoa(os.Getpid())
	err := syscall.Mkdir(all, 0o700)
	if err == syscall.EEXIST {
		err = ownFolder(all)
		names, _ := listed(all, maxNames) // what is not removed now is removed later
		for _, name := range names {
			id, ours := strings.CutPrefix(name, space)
			pid, no := strconv.Atoi(id)
			if ours && no == nil && (pid == os.Getpid() || syscall.Kill(pid, 0) == syscall.ESRCH) {
				_ = os.RemoveAll(all + "/" + name) // else the next box does
			}
		}
	}
	if err == nil {
		err = syscall.Mkdir(dir, 0o700)
	}
	made := ""
	for _, l := range s.Links { // they are in one folder
		name := strings.Replace(l[0], "/tmp", dir, 1)
		if in := filepath.Dir(name); err == nil && in != made {
			made, err = in, syscall.Mkdir(in, 0o700)
		}
		if err == nil {
			err = syscall.Symlink(l[1], name)
		}
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", cannot("make a temporary folder: %v", err)
	}
	return dir, nil
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

// quarantine takes the files that Watch forbids out of the way, now that nothing of the box runs. It
// returns where they are.
func quarantine(watch []string) (kept []string, err error) {
	l := lister{} // of now
	for _, path := range watch {
		if !l.there(path) {
			continue
		}
		to, from := freeName(path), path
		if e := os.Rename(from, to); e != nil {
			err = errors.Join(err, fmt.Errorf("set %s aside: %w", path, e))
			continue
		}
		kept = append(kept, to)
	}
	return kept, err
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
