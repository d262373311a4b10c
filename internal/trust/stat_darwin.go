package trust

import "golang.org/x/sys/unix"

// lookAt looks at a path without following a link at its end.
func lookAt(path string) fact {
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

// hasACL knows nothing of macOS's access lists: they are outside of the mode,
// and only a deny entry is usual. docs/security.md says so.
func hasACL(string) bool { return false }

// administrators are groups whose members can become root anyway: wheel, and
// admin, which Homebrew gives its folders to. Group staff, which everybody is
// in, is not one of them.
var administrators = map[uint32]bool{0: true, 80: true}
