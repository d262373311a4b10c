package proc

import "time"

// Swept is what New has ended of a predecessor that was killed.
type Swept struct {
	Runs int // that were under way and had processes left
	Left int // processes that could not be ended
}

// sweep ends the runs that were under way when the daemon that wrote the
// record at path was killed. What a hook left in the background when it ended
// is not in the record, and lives on. Only what is proven to be of such a run
// is touched: its own cgroup, told by the inode of the folder around it; its
// process, told by pid and start time; and from there those that the process
// table connects with it (see family), or that have its pipes. A record of
// another start of the machine, or of another pid namespace, says nothing.
func sweep(path string) (s Swept) {
	if path == "" {
		return s
	}
	o, runs := readJournal(path)
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
	forgetCgroups(o)
	return s
}

// sweepTree ends what the process table shows of a run.
func sweepTree(e entry, until time.Time) (found bool, left int) {
	f := newFamily(e.PID, e.Links...)
	defer f.forget()
	f.born = e.Start
	f.past = true
	_, left = f.end(until)
	return len(f.members) > 0, left
}
