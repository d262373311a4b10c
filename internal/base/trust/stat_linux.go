package trust

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// factOf returns the fact of the file that is at path, whose state is st.
func factOf(path string, st *syscall.Stat_t) fact {
	return fact{
		path: path, dev: uint64(st.Dev), ino: st.Ino, mode: st.Mode, uid: st.Uid, gid: st.Gid,
		size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

// hasACL reports whether an access list gives rights to more users or groups than
// the mode shows. It is false where the file system has no such lists. The group
// bits of the mode are the most that a list can give, so it is called only when they
// allow writing.
func hasACL(path string) bool {
	n, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return err == nil && n > 0
}

// administrators are groups whose members can become root anyway.
var administrators = map[uint32]bool{}
