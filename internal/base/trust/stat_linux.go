package trust

import "golang.org/x/sys/unix"

// lstat returns the fact of a path, without following a link at its end.
func lstat(path string) fact {
	f := fact{path: path}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		f.missing = true
		return f
	}
	f.dev, f.ino, f.mode = uint64(st.Dev), st.Ino, st.Mode
	f.uid, f.gid, f.size = st.Uid, st.Gid, st.Size
	f.mtime, f.ctime = st.Mtim.Nano(), st.Ctim.Nano()
	return f
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
