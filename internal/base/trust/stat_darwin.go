package trust

import "syscall"

// factOf returns the fact of the file that is at path, whose state is st.
func factOf(path string, st *syscall.Stat_t) fact {
	return fact{
		path: path, dev: uint64(st.Dev), ino: st.Ino, mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
		size: st.Size, mtime: st.Mtimespec.Nano(), ctime: st.Ctimespec.Nano(),
	}
}

// hasACL does not read macOS's access lists: they are not limited by the mode, and
// usually have deny entries only. docs/reference/security.md says so.
func hasACL(string) bool { return false }

// administrators are groups whose members can become root anyway: wheel, and admin,
// which owns Homebrew's folders. Group staff, which has every user, is not one.
var administrators = map[uint32]bool{0: true, 80: true}
