package doctor

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// reach reports the parts of a hook that the daemon cannot read or start, when it acts as another
// user. The person who asks can see no difference. It returns whether it found something.
func (v *visit) reach(h *hook.Hook, program string) bool {
	if v.uid == os.Geteuid() || v.uid == 0 {
		return false
	}
	for path, want := range map[string]fs.FileMode{h.File: 0o4, program: 0o5} {
		if at := unreachable(path, v.uid, want); at != "" {
			v.say("hook "+h.Name, Problem, "sudo chmod go+rX "+escape.Quote(at), "%s needs %s, which is closed to the daemon, %s",
				h.Name, at, v.name())
			return true
		}
	}
	return false
}

// unreachable returns the first step of a path that a user may not take: a folder on the
// way that may not be entered, or the file without one of the rights in want, such as
// 0o5 to read and execute; "" when there is none, or no such file.
func unreachable(path string, uid int, want fs.FileMode) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(real) {
		return ""
	}
	groups := []string{}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		groups, _ = u.GroupIds()
	}
	for steps := real; ; steps = filepath.Dir(steps) {
		if !mayUse(steps, uid, groups, want) {
			return steps
		}
		if want = 0o1; steps == "/" {
			return ""
		}
	}
}

// mayUse reports whether the mode of a file gives a user these rights.
func mayUse(path string, uid int, groups []string, want fs.FileMode) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true // reported by what needs it
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	class := want
	switch {
	case int(st.Uid) == uid:
		class = want << 6
	case slices.Contains(groups, strconv.Itoa(int(st.Gid))):
		class = want << 3
	}
	return info.Mode().Perm()&class == class
}
