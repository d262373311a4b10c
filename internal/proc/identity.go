package proc

import (
	"os"
	"strings"
)

// Identity is a process as its number and start: another process that gets the number later
// has another start, unless that is in the same hundredth of a second (Linux) or microsecond
// (macOS). The zero Identity is none.
type Identity struct {
	pid   int
	start uint64
}

// IdentityOf returns the identity of a process; the zero Identity if there is none.
func IdentityOf(pid int) Identity {
	r, ok := readRow(pid)
	if !ok || r.dead {
		return Identity{}
	}
	return Identity{pid: pid, start: r.start}
}

// Alive reports whether the process has not ended.
func (i Identity) Alive() bool { return i != Identity{} && IdentityOf(i.pid) == i }

// BelowUs reports whether a process descends from this one, also as an orphan that this
// process has adopted, see Options.Adopt.
func BelowUs(pid int) bool {
	self := os.Getpid()
	for _, r := range ancestors(pid) {
		if r.ppid == self {
			return true
		}
	}
	return false
}

// arguments splits a command line as the kernel has it: each argument ends in NUL.
func arguments(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}
