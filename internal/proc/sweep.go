package proc

import (
	"os"
	"time"
)

// Swept counts the runs that New has killed, of a predecessor that was killed itself.
type Swept struct {
	Runs int // that were under way and had processes left
	Left int // processes that could not be killed

	Unread string // path of a journal that could not be read, so that its runs may go on; "" = it was
}

// setAside renames a journal with something in it that could not be read, and returns its name then.
func setAside(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return ""
	}
	aside := path + ".unread"
	if os.Rename(path, aside) != nil {
		return path
	}
	return aside
}

// sweep kills the runs that were under way when the daemon that wrote the journal
// at path was killed. Background processes of hooks that had ended are not in the
// journal, and live on. A process is killed only if it is proven to belong to such
// a run: it is in the run's cgroup, known by the inode of the folder around it; it
// has the run's pid and start time; or the process table connects it with that
// process (see family), or it has that process's pipes. A journal of another boot
// or another pid namespace is ignored.
func sweep(path string) (s Swept) {
	if path == "" {
		return s
	}
	o, runs := readJournal(path)
	if o.Boot == "" {
		s.Unread = setAside(path)
	}
	if o.Boot == "" || o.Boot != bootID() {
		return s
	}
	until := time.Now().Add(ReapWait)
	for _, e := range runs {
		found, left := sweepCgroup(o, e, until)
		more, leftOver := sweepTree(e, until)
		if found || more {
			s.Runs++
		}
		s.Left += left + leftOver
	}
	removeCgroups(o)
	return s
}

// sweepTree kills the processes of a run that the process table shows.
func sweepTree(e entry, until time.Time) (found bool, left int) {
	f := newFamily(e.PID, e.Links...)
	defer f.closeHandles()
	f.born = e.Start
	f.past = true
	_, left = f.end(until)
	return len(f.members) > 0, left
}
