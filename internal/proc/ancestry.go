package proc

import (
	"path/filepath"
	"slices"
	"strings"
)

// mostAncestors bounds the way up a process tree, which is read while it changes.
const mostAncestors = 64

// Lineage is the tree of processes that one process belongs to, as it was when it was
// looked at: from its root down, whatever the root and the processes below it start.
// Processes are known by number and start, so that another process with the number of
// an ended process is none of them.
type Lineage struct {
	chain  []row // from the process up to the first of all
	root   int   // index of the root in chain
	cgroup string
}

// LineageOf looks up the tree that a process belongs to. Its root is the leader of the
// terminal session that it stands in: everything that was started in that terminal.
// Without a terminal it is the topmost process below the manager of services. ok is
// false when there is no such process.
func LineageOf(pid int) (l Lineage, ok bool) {
	l = Lineage{chain: ancestors(pid), cgroup: cgroupFile(pid)}
	if len(l.chain) == 0 {
		return l, false
	}
	if l.root = slices.IndexFunc(l.chain, row.leadsTerminal); l.root >= 0 {
		return l, true
	}
	l.root = 0
	for i, r := range l.chain[1:] {
		if managesServices(r) {
			break
		}
		l.root = i + 1
	}
	return l, true
}

// Has reports whether a process belongs to the tree: it descends from the root, it
// is in a session of the tree, or it seems to have left the tree. A process that is
// gone belongs to every tree: it is not known to which.
func (l Lineage) Has(pid int) bool {
	chain := ancestors(pid)
	if len(chain) == 0 || contains(chain, l.chain[l.root]) {
		return true
	}
	inSession := func(r row) bool { return r.sid == chain[0].sid }
	return slices.ContainsFunc(l.chain[:l.root+1], inSession) || l.left(chain)
}

// left reports whether a process with this chain seems to have left the tree, see isApart. On macOS, which has no
// cgroups, each orphan belongs to another tree.
func (l Lineage) left(chain []row) bool {
	return isApart(chain, l.chain, l.chain[l.root].start, l.cgroup)
}

// isApart reports whether a process with a chain seems to be set apart from one with the chain of: below the ancestor
// that they share stands a younger process that came there as an orphan, in a session that is not its parent's and in
// the same cgroup. A process that came with a terminal belongs elsewhere. Without a terminal its age proves nothing,
// where orphans are adopted: an earlier agent may have set it apart, and the other may be an orphan itself.
func isApart(chain, of []row, since uint64, cgroup string) bool {
	shared := slices.IndexFunc(chain, func(r row) bool { return contains(of, r) })
	if shared <= 0 || cgroup == "" || cgroupFile(chain[0].pid) != cgroup {
		return false
	}
	top, above := chain[shared-1], chain[shared]
	if !chain[0].tty && chain[0].sid != above.sid && adopts(above) {
		return true
	}
	return top.start >= since && top.sid != above.sid && !top.cameWithTerminal(above)
}

func contains(chain []row, one row) bool {
	return slices.ContainsFunc(chain, func(r row) bool { return r.pid == one.pid && r.start == one.start })
}

// Alive reports whether the process that was looked up still exists.
func (l Lineage) Alive() bool {
	r, ok := readRow(l.chain[0].pid)
	return ok && r.start == l.chain[0].start && !r.dead
}

// leadsTerminal reports whether the process is the first that was started in a
// terminal.
func (r row) leadsTerminal() bool { return r.tty && r.pid == r.sid }

// cameWithTerminal reports whether a process below another one came there with a terminal: a window of a
// terminal's program, a login at a console, or a person in a container. Below a process that adopts orphans, a
// pseudo terminal proves nothing, as an orphan can open one.
func (r row) cameWithTerminal(below row) bool {
	return r.leadsTerminal() && (!r.pty || !adopts(below) || entersContainers(below))
}

// entersContainers reports whether a process starts others in a container for people outside. An orphan in
// the container goes to the container's first process instead.
func entersContainers(r row) bool {
	return strings.HasPrefix(Comm(r.pid), "containerd-shim") || filepath.Base(Program(r.pid)) == "conmon"
}

// ancestors returns a process and its parents up to the first of all, as far as they
// can be seen; nil when there is no such process.
func ancestors(pid int) (chain []row) {
	for len(chain) < mostAncestors {
		r, ok := readRow(pid)
		if !ok || len(chain) > 0 && r.start > chain[len(chain)-1].start { // another has the number by now
			return chain
		}
		chain = append(chain, r)
		pid = r.ppid
	}
	return chain
}

// managesServices reports whether a process starts the user's sessions and services
// and belongs to none of them. Of the first process of a container that is not said.
func managesServices(r row) bool {
	return r.pid == 1 || r.pid == r.sid && !r.tty && filepath.Base(Program(r.pid)) == "systemd"
}
