package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/proc"
)

const setClock = "timedatectl set-ntp true"

// watches compares the number of watches that inotify allows a user with the number in use.
// Without a watch, hookd polls for changes of hooks every two seconds.
func (v *visit) watches() {
	polls := v.status != nil && strings.HasPrefix(v.status.Watching, "polling")
	watches, instances := limit("max_user_watches"), limit("max_user_instances")
	usedWatches, usedInstances, unseen := used(v.uid)
	switch {
	case watches > 0 && usedWatches >= watches*9/10:
		v.say(
			"watches",
			Note,
			raise("max_user_watches", watches),
			"%d of %d inotify watches are used",
			usedWatches,
			watches,
		)
	case instances > 0 && usedInstances >= instances*9/10:
		v.say(
			"watches",
			Note,
			raise("max_user_instances", instances),
			"%d of %d inotify instances are used",
			usedInstances,
			instances,
		)
	case polls:
		v.say("watches", Note, "hookd status", "changes of hooks are seen by %s", v.status.Watching)
	default:
		found := fmt.Sprintf("%d of %d inotify watches and %d of %d instances are used", usedWatches, watches,
			usedInstances, instances)
		if unseen > 0 { // such as the daemon itself
			found += fmt.Sprintf("; not counted: %d of your processes, which are closed", unseen)
		}
		v.say("watches", OK, "", "%s", found)
	}
}

func raise(name string, now int) string {
	return "sudo sysctl fs.inotify." + name + "=" + strconv.Itoa(4*now)
}

func limit(name string) int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// used returns the watches and instances of all processes of a user: the limits are per
// user. Those of processes that the caller may not look into are left out; unseen counts these processes.
func used(uid int) (watches, instances, unseen int) {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, process := range processes {
		pid, _ := strconv.Atoi(filepath.Base(process)) // the pattern is of digits
		if of, known := proc.UIDOf(pid); !known || of != uid {
			continue
		}
		fds, err := os.ReadDir(process + "/fd") // a process that has ended has none
		if errors.Is(err, fs.ErrPermission) {
			unseen++
		}
		for _, fd := range fds {
			if to, err := os.Readlink(process + "/fd/" + fd.Name()); err != nil || to != "anon_inode:inotify" {
				continue
			}
			instances++
			info, _ := os.ReadFile(process + "/fdinfo/" + fd.Name()) // of a process that has ended
			watches += bytes.Count(info, []byte("inotify wd:"))
		}
	}
	return watches, instances, unseen
}
