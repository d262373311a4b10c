// Package journaltest has a disk for tests that loses data as a real disk may: data
// not synced is there after a crash, or not, or in part, whatever the order of the writes.
package journaltest

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/record/journal"
)

// ErrOff is the error of every operation once the disk is off.
var ErrOff = errors.New("the disk is off")

// sector is how many bytes a disk writes whole or not at all.
const sector = 512

// Disk fits journal.Files. It has one level of folders. It is safe for concurrent use.
type Disk struct {
	// Fail returns an error for an operation, which then does nothing; "write", "sync", "create"
	// and others. nil = all succeed. A sync that fails loses some of the data that it was to sync.
	Fail func(op, path string) error

	mu    sync.Mutex // guards all below
	rand  *rand.Rand
	left  int              // operations that change something until the disk is off; negative = no end
	done  int              // such operations
	names map[string]*node // as seen
	kept  map[string]*node // as they are after a crash, at the least
}

// node is a file.
type node struct {
	data   []byte // as seen
	synced []byte // as it is after a crash, at the least
	writes []write
}

type write struct {
	at   int64
	data []byte
}

// New returns an empty disk that goes off after so many operations that change something; a
// negative number is no end. The losses of a crash follow from seed.
func New(seed uint64, left int) *Disk {
	return &Disk{rand: rand.New(rand.NewPCG(seed, 1)), left: left, names: map[string]*node{}, kept: map[string]*node{}}
}

// Done is how many operations have changed something.
func (d *Disk) Done() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// Crash turns the disk off. It returns the disk that the machine finds when it is on again, for so
// many operations.
func (d *Disk) Crash(left int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = 0
	next := New(d.rand.Uint64(), left)
	for _, path := range slices.Sorted(maps.Keys(d.names)) {
		if n := d.names[path]; d.kept[path] == n || d.rand.IntN(2) == 0 {
			next.put(path, n.after(d.rand))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.kept)) {
		if d.names[path] == nil && d.rand.IntN(2) == 0 { // removed, which the disk does not know
			next.put(path, d.kept[path].after(d.rand))
		}
	}
	return next
}

func (d *Disk) put(path string, data []byte) {
	n := &node{data: data, synced: slices.Clone(data)}
	d.names[path], d.kept[path] = n, n
}

// after returns the data that a crash leaves of a file.
func (n *node) after(r *rand.Rand) []byte {
	data := slices.Clone(n.synced)
	some := r.IntN(3) // none, some or all of what was not synced
	for _, i := range r.Perm(len(n.writes)) {
		w := n.writes[i]
		for at := 0; at < len(w.data); {
			end := min(len(w.data), at+sector-int((w.at+int64(at))%sector))
			if some == 2 || some == 1 && r.IntN(2) == 0 {
				data = overwrite(data, w.at+int64(at), w.data[at:end])
			}
			at = end
		}
	}
	return data
}

func overwrite(data []byte, at int64, part []byte) []byte {
	if end := at + int64(len(part)); end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[at:], part)
	return data
}

// change counts an operation that changes something. The caller holds mu.
func (d *Disk) change(op, path string) error {
	if d.left == 0 {
		return ErrOff
	}
	if d.Fail != nil {
		if err := d.Fail(op, path); err != nil {
			return err
		}
	}
	d.left--
	d.done++
	return nil
}

// MkdirAll fits journal.Files; folders are always there.
func (d *Disk) MkdirAll(string) error { return nil }

// List fits journal.Files.
func (d *Disk) List(dir string) (paths []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(d.names)) {
		if filepath.Dir(path) == dir {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Create fits journal.Files.
func (d *Disk) Create(path string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("create", path); err != nil {
		return nil, err
	}
	n := &node{}
	d.names[path] = n
	return &file{d, n, path}, nil
}

// Open fits journal.Files.
func (d *Disk) Open(path string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[path]
	if n == nil {
		return nil, fs.ErrNotExist
	}
	return &file{d, n, path}, nil
}

// Rename fits journal.Files.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("rename", from); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

// Link fits journal.Files.
func (d *Disk) Link(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("link", from); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	return nil
}

// Remove fits journal.Files.
func (d *Disk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("remove", path); err != nil {
		return err
	}
	delete(d.names, path)
	return nil
}

// Free fits journal.Files: there is always room.
func (d *Disk) Free(string) (int64, error) { return 1 << 40, nil }

// SyncDir fits journal.Files.
func (d *Disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change("syncdir", dir); err != nil {
		return err
	}
	d.kept = maps.Clone(d.names)
	return nil
}

// Text returns the data of a file, as it is seen.
func (d *Disk) Text(path string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names[path].data)
}

// Damage overwrites a part of a file, also after a crash.
func (d *Disk) Damage(path string, at int64, part []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[path]
	n.data, n.synced = overwrite(n.data, at, part), overwrite(n.synced, at, part)
}

// file is an open file.
type file struct {
	disk *Disk
	node *node
	path string
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change("write", f.path); err != nil {
		return 0, err
	}
	f.node.writes = append(f.node.writes, write{at, slices.Clone(b)})
	f.node.data = overwrite(f.node.data, at, b)
	return len(b), nil
}

func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change("sync", f.path); err != nil {
		if f.disk.left != 0 { // the system takes what it could not write for written
			f.node.synced, f.node.writes = f.node.after(f.disk.rand), nil
		}
		return err
	}
	f.node.synced, f.node.writes = slices.Clone(f.node.data), nil
	return nil
}

func (f *file) SizeAt(path string) (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.names[path] != f.node {
		return 0, fs.ErrNotExist
	}
	return int64(len(f.node.data)), nil
}

func (f *file) Close() error { return nil }
