// Package trust answers one question about files that hookd runs or reads: can a
// user other than this one and root change them? It walks the whole chain of a
// path, from / to the file, through every symbolic link and its target, and judges
// owner and mode of each step. The result is a Seal, which is compared with the
// disk again, cheaply, before each start.
//
// It promises: a path passes only if no other user can replace it or any directory or
// link on the way, so no other user can swap a file between the check and the use.
// Every refusal names the path, the fact and the command to type. The package runs
// nothing, and opens no file but scripts, for their first line, and files whose content
// counts.
//
// It does not protect from the user's own processes or from root, and does not look at
// files that a script loads in turn, at Linux file capabilities, at NFSv4 or macOS
// access lists, or at how a file system is mounted.
package trust

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
)

// Checker judges files for one user. It may be used from several goroutines.
type Checker struct {
	uid    uint32
	groups *groups
	cache  *cache // nil = each path is read from the disk each time
}

// New returns a Checker for the user that the process acts as.
func New() *Checker { return newChecker(uint32(os.Geteuid()), "/etc/passwd", "/etc/group") }

// Of returns a Checker for another user: of the files of root, 0, every other user's
// hands are foreign, also the hands of the process's own user.
func Of(uid int) *Checker { return newChecker(uint32(uid), "/etc/passwd", "/etc/group") }

func newChecker(uid uint32, passwd, group string) *Checker {
	return &Checker{uid: uid, groups: &groups{passwd: passwd, group: group}}
}

// Refusal says why a path is not trusted, and how to mend it.
type Refusal struct {
	Path string
	Fact string // "is writable by every user (mode 0777)"
	Do   string // the command to type
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s %s; type `%s`", escape.Quote(r.Path), r.Fact, r.Do)
}

// Check walks the chain of one path. It returns nil when only the user and root can
// change the file that the path leads to, also when it does not exist; else a *Refusal.
func (c *Checker) Check(path string) error {
	w := c.walk()
	w.path(path, reading)
	if len(w.refusals) > 0 {
		return &w.refusals[0]
	}
	return nil
}

// role is the use of a path.
type role uint8

const (
	above   role = iota // a directory or link on the way
	folder              // a directory whose entries all count: sticky does not help
	listed              // such a directory, whose entries may not come or go
	reading             // a file that is read
	given               // a file that the hook's own script gets as an argument: only the script may open it
	running             // a file that is executed
)

// judge returns the fault of one step of a chain, nil for none. shared reports whether
// that depends on the members of a group.
func (c *Checker) judge(f *fact, as role) (bad *Refusal, shared bool) {
	isDir := f.is(unix.S_IFDIR)
	switch {
	case f.uid != c.uid && f.uid != 0:
		return c.refuse(f, "is owned by "+userName(f.uid), c.sudo(0)+"chown "+c.owner()+" "+escape.Quote(f.path)), false
	case f.is(unix.S_IFLNK):
		return nil, false // its mode means nothing
	case (as == running || as == given) && !isDir && f.mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		fact := "is setuid or setgid, which no hook's program may be: a script may call it"
		return c.refuse(f, fact, c.unsetuid(f)), false
	case isDir && as == above && f.mode&unix.S_ISVTX != 0 && f.uid == 0:
		return nil, false // others can add entries, but not replace ours
	case (f.is(unix.S_IFCHR) || f.is(unix.S_IFBLK)) && f.mode&0o022 != 0: // no advice to change a device
		return c.refuse(f, "is a device that others can write to", "ls -l "+escape.Quote(f.path)), false
	case f.mode&0o002 != 0:
		return c.refuse(f, "is writable by every user", c.chmod(f)), false
	case f.mode&0o020 == 0:
		return nil, false
	case !c.groups.private(c.uid, f.gid):
		return c.refuse(f, "is writable by group "+groupName(f.gid), c.chmod(f)), false
	case hasACL(f.path):
		fact := "is writable by more than its group, through an access list"
		return c.refuse(f, fact, c.sudo(f.uid)+"setfacl -b "+escape.Quote(f.path)), false
	}
	return nil, true
}

func (c *Checker) refuse(f *fact, what, do string) *Refusal {
	return &Refusal{Path: f.path, Fact: fmt.Sprintf("%s (mode %04o)", what, f.mode&0o7777), Do: do}
}

// chmod returns the command that makes a file not writable for other users.
func (c *Checker) chmod(f *fact) string {
	classes := ""
	if f.mode&0o020 != 0 {
		classes += "g"
	}
	if f.mode&0o002 != 0 {
		classes += "o"
	}
	return c.sudo(f.uid) + "chmod " + classes + "-w " + escape.Quote(f.path)
}

// unsetuid returns the command that mends a setuid program. The system's own need
// the bit, so for these it proposes a script, which may call one.
func (c *Checker) unsetuid(f *fact) string {
	if f.uid == 0 && inSystem(f.path) {
		return "hookd new my-hook --lang sh"
	}
	return c.sudo(f.uid) + "chmod ug-s " + escape.Quote(f.path)
}

// sudo is "" when the user owns the file or is root.
func (c *Checker) sudo(owner uint32) string {
	if c.uid == 0 || c.uid == owner {
		return ""
	}
	return "sudo "
}

func (c *Checker) owner() string {
	if u, err := user.LookupId(strconv.FormatUint(uint64(c.uid), 10)); err == nil {
		return escape.Quote(u.Username)
	}
	return strconv.FormatUint(uint64(c.uid), 10)
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username + " (uid " + id + ")"
	}
	return "uid " + id
}

func groupName(gid uint32) string {
	id := strconv.FormatUint(uint64(gid), 10)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name + " (gid " + id + "), which others are or may be in"
	}
	return id + ", which has no name"
}
