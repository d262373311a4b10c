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
	f.dev, f.ino, f.mode = uint64(st.Dev), st.Ino, uint32(st.Mode)
	f.uid, f.gid, f.size = st.Uid, st.Gid, st.Size
	f.mtime, f.ctime = st.Mtim.Nano(), st.Ctim.Nano()
	return f
}

// hasACL does not read macOS's access lists: they are not limited by the mode, and
// usually have deny entries only. docs/reference/security.md says so.
func hasACL(string) bool { return false }

// administrators are groups whose members can become root anyway: wheel, and admin,
// which owns Homebrew's folders. Group staff, which has every user, is not one.
var administrators = map[uint32]bool{0: true, 80: true}
