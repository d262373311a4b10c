package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/hookd/hookd/internal/base/readfile"
)

// The journal is a text file: a line about its owner, padded to ownerSize, then one
// line of slotSize for each run under way, which is blank when the run is over.
const (
	ownerSize  = 8 << 10
	slotSize   = 256
	maxJournal = ownerSize + slotSize<<16 // far more runs than a daemon has permits for
)

// owner describes the daemon that writes the journal.
type owner struct {
	Boot   string `json:"boot"`             // see bootID
	PID    int    `json:"pid"`              // for people
	Cgroup string `json:"cgroup,omitempty"` // the folder with the runs' folders
	Inode  uint64 `json:"inode,omitempty"`  // of Cgroup: no other folder gets it before the next boot
}

// entry is a run under way.
type entry struct {
	PID    int      `json:"pid"`
	Start  span     `json:"start"`            // of the process
	Cgroup string   `json:"cgroup,omitempty"` // folder below the owner's
	Links  []string `json:"links,omitempty"`  // of the run's pipes and stdin, as linkOf returns them
}

// span is a time from and to, both inclusive, in the process table's unit.
type span [2]uint64

func (s span) has(t uint64) bool { return s[0] <= t && t <= s[1] }

// journal lists the runs under way for the next daemon, should this one be killed.
// A line costs one write to the page cache, which outlives the process; it is not
// synced, because processes do not outlive the machine either. A run that started
// microseconds before the kill may be missing. A nil journal does nothing.
type journal struct {
	file *os.File

	mu   sync.Mutex // guards what is below
	free []int      // slots that were released
	next int        // the first slot never used
	used int
}

// newJournal begins an empty journal at path, nil if it cannot.
func newJournal(path string, groups *cgroups) *journal {
	boot := bootID()
	if path == "" || boot == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return nil
	}
	o := owner{Boot: boot, PID: os.Getpid(), Cgroup: groups.folder()}
	o.Inode = inode(o.Cgroup)
	line := padded(o, ownerSize)
	if line == nil {
		return nil
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NONBLOCK // the open of a pipe would block
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil
	}
	if _, err := f.WriteAt(line, 0); err != nil { // also in a pipe or a device
		f.Close()
		return nil
	}
	return &journal{file: f}
}

// clock returns the time that add needs, from before the start of a process.
func (j *journal) clock() uint64 {
	if j == nil {
		return 0
	}
	return tableClock()
}

// add writes the run of p, whose process was started after since and is not reaped.
// It returns the slot, or -1.
func (j *journal) add(p *process, since uint64) int {
	if j == nil {
		return -1
	}
	e := entry{
		PID: p.pid, Start: startSpan(p.pid, since),
		Links: links(p.stdin, pipeLink(p.out.fd), pipeLink(p.err.fd)),
	}
	if p.group != nil {
		e.Cgroup = filepath.Base(p.group.folder())
	}
	line := padded(e, slotSize)
	if line == nil {
		e.Links = nil // a long name in TMPDIR
		line = padded(e, slotSize)
	}
	slot := j.acquireSlot()
	if _, err := j.file.WriteAt(line, slotAt(slot)); err != nil {
		j.releaseSlot(slot)
		return -1
	}
	return slot
}

// remove blanks the line of a run that is over.
func (j *journal) remove(slot int) {
	if j == nil || slot < 0 {
		return
	}
	j.file.WriteAt(blank[:], slotAt(slot))
	j.releaseSlot(slot)
}

func (j *journal) acquireSlot() (slot int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.used++
	if n := len(j.free); n > 0 {
		slot, j.free = j.free[n-1], j.free[:n-1]
		return slot
	}
	j.next++
	return j.next - 1
}

func (j *journal) releaseSlot(slot int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.used--
	j.free = append(j.free, slot)
}

// close removes the file unless a run is still under way. It stays open, because
// runs may end later.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.used > 0 {
		return nil
	}
	if err := os.Remove(j.file.Name()); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func slotAt(slot int) int64 { return ownerSize + int64(slot)*slotSize }

var blank = func() (b [slotSize]byte) {
	fill(b[:])
	return b
}()

func fill(b []byte) {
	for i := range b {
		b[i] = ' '
	}
	b[len(b)-1] = '\n'
}

// padded returns v as one line of exactly size bytes, nil if it is longer.
func padded(v any, size int) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text) >= size {
		return nil
	}
	line := make([]byte, size)
	fill(line)
	copy(line, text)
	return line
}

// links returns the links that are not "".
func links(all ...string) []string {
	var known []string
	for _, l := range all {
		if l != "" {
			known = append(known, l)
		}
	}
	return known
}

// readJournal returns the runs that a predecessor has listed. It skips damaged
// lines.
func readJournal(path string) (owner, []entry) {
	var o owner
	text, err := readfile.Read(path, maxJournal)
	if err != nil || len(text) < ownerSize || json.Unmarshal(text[:ownerSize], &o) != nil {
		return owner{}, nil
	}
	var list []entry
	for at := ownerSize; at+slotSize <= len(text); at += slotSize {
		var e entry
		if json.Unmarshal(text[at:at+slotSize], &e) == nil && e.PID > 1 && e.Start[0] > 0 {
			list = append(list, e)
		}
	}
	return o, list
}
