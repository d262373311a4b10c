package proc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// freezeWait bounds the search for processes that fork faster than they are found.
// After it they are killed without being stopped first.
const freezeWait = 250 * time.Millisecond

const shortNap = 200 * time.Microsecond

// longer returns the next pause between two looks at processes that are dying.
func longer(nap time.Duration) time.Duration { return min(2*nap, 10*time.Millisecond) }

// row is one process in the process table.
type row struct {
	pid, ppid, sid int
	start          uint64 // differs for another process with the same pid
	stopped, dead  bool   // a zombie is dead
	tty            bool   // it has a controlling terminal
	pty            bool   // which is a pseudo terminal: any process can make one
}

// Stopped reports whether a process is held by a signal, as by Ctrl-Z; false if there
// is none with that pid.
func Stopped(pid int) bool {
	table, err := processes()
	return err == nil && table[pid].stopped
}

// Ended reports whether a process has ended: also a process that its parent has not reaped, as in a
// container without an init.
func Ended(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return true
	}
	table, err := processes()
	return err == nil && table[pid].dead
}

// member is a process of the run. Its handle sends signals to it and to no
// other that gets its pid.
type member struct {
	row
	handle int
	denied bool // it runs as another user now (setuid): it cannot be signalled
}

// family is every process of a run that the process table shows: children of
// members, processes of their session, and processes that have the run's pipes or
// stdin as descriptor 0, 1 or 2.
type family struct {
	leader  int
	past    bool     // the leader is no child of ours: another process may have its pid by now
	born    span     // if past: when the leader started
	self    int      // never a member
	links   []string // of those descriptors, as linkOf returns them
	oldest  uint64   // when the leader started: no member is older
	members map[int]*member
}

func newFamily(leader int, links ...string) *family {
	f := &family{leader: leader, self: os.Getpid(), members: map[int]*member{}}
	for _, l := range links {
		if l != "" {
			f.links = append(f.links, l)
		}
	}
	return f
}

// end stops all members, so that none forks or loses its parent unseen, and then
// kills them until all are dead and no new one appears, or until. It returns how,
// and how many are left.
func (f *family) end(until time.Time) (how string, left int) {
	if !f.freeze(time.Now().Add(freezeWait)) {
		f.killGroup()
		return "group", 0
	}
	for nap := shortNap; ; nap = longer(nap) {
		f.killGroup()
		for _, m := range f.members {
			f.signal(m, unix.SIGKILL)
		}
		f.scan()
		alive, denied := f.count()
		if alive == 0 || !time.Now().Before(until) {
			return "tree", alive + denied
		}
		time.Sleep(nap)
	}
}

// killGroup kills the process group, unless another group may have its number.
func (f *family) killGroup() {
	if !f.past {
		unix.Kill(-f.leader, unix.SIGKILL)
	}
}

// freeze sends SIGSTOP to all members until all have stopped and no new one
// appears. It returns false when the process table cannot be read.
func (f *family) freeze(until time.Time) bool {
	for {
		fresh, err := f.scan()
		if err != nil {
			return false
		}
		for _, m := range fresh {
			f.signal(m, unix.SIGSTOP)
		}
		if len(fresh) == 0 && f.allStopped() || !time.Now().Before(until) {
			return true
		}
		time.Sleep(shortNap)
	}
}

// scan reads the process table and returns the new members.
func (f *family) scan() (fresh []*member, err error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	if f.oldest = f.born[0]; !f.past {
		f.oldest = table[f.leader].start
	}
	for _, m := range f.members {
		if now, ok := table[m.pid]; ok && now.start == m.start {
			m.row = now
		} else {
			m.dead = true
		}
	}
	checked := map[int]bool{} // descriptors are read once per scan
	for grown := true; grown; {
		grown = false
		for pid, r := range table {
			if f.members[pid] != nil && f.members[pid].start == r.start || !f.belongs(r, table, checked) {
				continue
			}
			m := &member{row: r, handle: openHandle(r)}
			if old := f.members[pid]; old != nil {
				closeHandle(old.handle)
			}
			f.members[pid] = m
			fresh = append(fresh, m)
			grown = true
		}
	}
	return fresh, nil
}

func (f *family) belongs(r row, table map[int]row, checked map[int]bool) bool {
	if r.pid == f.leader {
		return !f.past || f.born.has(r.start)
	}
	if r.start < f.oldest || r.pid == f.self {
		return false
	}
	if p := f.members[r.ppid]; p != nil && table[r.ppid].start == p.start {
		return true
	}
	if f.sameSession(r, table) {
		return true
	}
	if checked[r.pid] || r.dead {
		return false
	}
	checked[r.pid] = true
	return holds(r.pid, f.links)
}

// sameSession reports whether r is in a session of the family. A session has its
// number while it has a member, even without its leader.
func (f *family) sameSession(r row, table map[int]row) bool {
	leader, there := table[r.sid]
	if s := f.members[r.sid]; s != nil && s.sid == s.pid {
		return !there || leader.start == s.start
	}
	if r.sid != f.leader || there {
		return false
	}
	for _, m := range f.members { // the leader has ended unseen, but a member is known to be of its session
		if now := table[m.pid]; now.start == m.start && now.sid == f.leader {
			return true
		}
	}
	return false
}

func (f *family) signal(m *member, s unix.Signal) {
	if m.dead || m.denied {
		return
	}
	switch sendSignal(m, s) {
	case unix.EPERM:
		m.denied = true
	case unix.ESRCH:
		m.dead = true
	}
}

// allStopped reports whether no member can fork any more.
func (f *family) allStopped() bool {
	for _, m := range f.members {
		if !m.dead && !m.denied && !m.stopped {
			return false
		}
	}
	return true
}

func (f *family) count() (alive, denied int) {
	for _, m := range f.members {
		switch {
		case m.dead:
		case m.denied:
			denied++
		default:
			alive++
		}
	}
	return alive, denied
}

// closeHandles closes the members' handles.
func (f *family) closeHandles() {
	for _, m := range f.members {
		closeHandle(m.handle)
	}
}
