package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// memory reports a folder that keeps decisions out of memory that outlives a kill: another
// user has made it first. A daemon that runs knows better: it may have another folder.
func (v *visit) memory() {
	if v.status != nil {
		if why := v.status.Store.Unkept; why != "" {
			v.say("memory", Note, "", "a kill of hookd may take decisions that are not on disk yet: %s", why)
		}
		return
	}
	dir := fmt.Sprintf("/dev/shm/hookd-%d", v.uid)
	info, err := os.Lstat(dir)
	if err != nil {
		return
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != v.uid || info.Mode() != fs.ModeDir|0o700 {
		v.say("memory", Note, "sudo rm -r "+dir, "%s, made by user %d, is in the way: a kill of hookd may take decisions "+
			"that are not on disk yet, unless it has $XDG_RUNTIME_DIR", dir, owner)
	}
}
