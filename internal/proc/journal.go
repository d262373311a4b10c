package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/hookd/hookd/internal/readfile"
)

// The record is a file of text: a line about its owner, padded to ownerSize,
// then one line of slotSize for each run under way, blank when it is over.
const (
	ownerSize  = 8 << 10
	slotSize   = 256
	maxJournal = ownerSize + slotSize<<16 // far more runs than a daemon has slots for
)

// owner says whose record it is.
type owner struct {
	Boot   string `json:"boot"`             // the start of the machine, and the pid namespace
	PID    int    `json:"pid"`              // for people
	Cgroup string `json:"cgroup,omitempty"` // the folder with the runs' folders
	Inode  uint64 `json:"inode,omitempty"`  // of Cgroup: no other folder has it before the machine starts again
}

// entry is a run under way.
type entry struct {
	PID    int      `json:"pid"`
	Start  span     `json:"start"`            // of the process
	Cgroup string   `json:"cgroup,omitempty"` // folder below the owner's
	Links  []string `json:"links,omitempty"`  // how the run's pipes and stdin show
}

// span is a time from and to, both inclusive, as the process table counts it.
type span [2]uint64

func (s span) has(t uint64) bool { return s[0] <= t && t <= s[1] }

// record tells the next daemon what was running, should this one be killed. A
// line costs one write to the page cache, which outlives the process; nothing
// is synced, as what ran does not outlive the machine either. A daemon that is
// killed within microseconds of a start has not noted it. A nil record keeps
// nothing.
type journal struct {
	file *os.File

	mu   sync.Mutex // guards what is below
	free []int      // slots that were given back
	next int        // the first that nobody had
	used int
}

// newRecord begins an empty record at path, nil if it cannot.
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
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o600) // a pipe would block for ever
	if err != nil {
		return nil
	}
	if _, err := f.WriteAt(line, 0); err != nil { // also in a pipe or a device
		f.Close()
		return nil
	}
	return &journal{file: f}
}

// clock is what add wants to know from before the start of a process.
func (r *journal) clock() uint64 {
	if r == nil {
		return 0
	}
	return tableClock()
}

// add notes the run of p, whose process was started since then and is not
// reaped. It returns the slot, or -1.
func (r *journal) add(p *process, since uint64) int {
	if r == nil {
		return -1
	}
	e := entry{PID: p.pid, Start: startSpan(p.pid, since), Links: links(p.stdin, pipeLink(p.out.fd), pipeLink(p.err.fd))}
	if p.group != nil {
		e.Cgroup = filepath.Base(p.group.folder())
	}
	var line [slotSize]byte
	if !e.put(line[:]) {
		e.Links = nil // a long name in TMPDIR
		e.put(line[:])
	}
	slot := r.take()
	if _, err := r.file.WriteAt(line[:], slotAt(slot)); err != nil {
		r.put(slot)
		return -1
	}
	return slot
}

// remove forgets a run that is over.
func (r *journal) remove(slot int) {
	if r == nil || slot < 0 {
		return
	}
	r.file.WriteAt(blank[:], slotAt(slot))
	r.put(slot)
}

func (r *journal) take() (slot int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used++
	if n := len(r.free); n > 0 {
		slot, r.free = r.free[n-1], r.free[:n-1]
		return slot
	}
	r.next++
	return r.next - 1
}

func (r *journal) put(slot int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used--
	r.free = append(r.free, slot)
}

// close removes the record unless a run is still under way. The file stays
// open: runs may end later.
func (r *journal) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used > 0 {
		return nil
	}
	if err := os.Remove(r.file.Name()); err != nil && !os.IsNotExist(err) {
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

// put writes e as one line that fills line; false if it is longer. It is by
// hand what padded would do, as it is done for each run.
func (e *entry) put(line []byte) bool {
	b := strconv.AppendInt(append(line[:0], `{"pid":`...), int64(e.PID), 10)
	b = strconv.AppendUint(append(b, `,"start":[`...), e.Start[0], 10)
	b = strconv.AppendUint(append(b, ','), e.Start[1], 10)
	b = append(b, ']')
	if e.Cgroup != "" {
		b = appendQuoted(append(b, `,"cgroup":`...), e.Cgroup)
	}
	for i, l := range e.Links {
		if i == 0 {
			b = append(b, `,"links":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendQuoted(b, l)
	}
	if len(e.Links) > 0 {
		b = append(b, ']')
	}
	if b = append(b, '}'); len(b) >= len(line) {
		return false
	}
	fill(line[len(b):])
	return true
}

// appendQuoted quotes a name, which needs no escape unless TMPDIR has an odd one.
func appendQuoted(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(name) // a string always can be
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), name...), '"')
}

// padded is v as one line of exactly size bytes, nil if it is longer.
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

// links leaves out what is not known.
func links(all ...string) []string {
	var known []string
	for _, l := range all {
		if l != "" {
			known = append(known, l)
		}
	}
	return known
}

// readRecord returns what a predecessor has left. A line that is damaged is
// left out.
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
