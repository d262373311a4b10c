package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// maxChanges is the largest file of changes, in bytes. Then its older half is removed,
// except for the last change of each present hook.
const maxChanges = 1 << 20

// Changes records changes of hooks, one JSON object a line, in a file that is only
// appended to until it is full. It always retains the last record of a hook, so that
// changes made while no daemon ran are noticed at the next start. A record that cannot
// be written is logged as an error and written with the next one; hooks go on.
type Changes struct {
	path     string
	approved func() map[string]discovery.Approval // nil = nothing has to be allowed
	log      *zap.Logger
	files    *readfile.Patience // for what the hooks' files say of an author
	markers  discovery.Markers

	mu      sync.Mutex        // guards all below
	last    map[string]known  // by ID
	size    int64             // of the file
	unsaved []byte            // lines that could not be written
	observe func(wire.Change) // gets each record; nil = none
}

// known is the state of a hook after its last record.
type known struct {
	digest string // of what is in force
	state  string
	waits  string // digest of what waits to be allowed
	guard  bool   // it can deny
}

// OpenChanges returns at once and reads the file in the background: hooks must be read,
// too, before there is a change.
func OpenChanges(c config.Config, log *zap.Logger) *Changes {
	r := &Changes{
		path: c.ChangesFile(), approved: approved(c), log: log.Named("changes"),
		files: readfile.NewPatience(authorTime, nil), markers: discovery.NewMarkers(c.DisabledDir()),
		last: map[string]known{},
	}
	r.mu.Lock()
	go func() {
		defer r.mu.Unlock()
		r.load()
	}()
	return r
}

func (r *Changes) load() {
	text, err := r.text()
	if err != nil {
		return // the file stays as it is
	}
	for c := range changesIn(text) {
		r.keep(c)
	}
	r.size = int64(len(text))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		r.rewrite()
	}
}

// text returns the whole file, and the records that are not in it yet.
func (r *Changes) text() ([]byte, error) {
	text, err := readfile.Read(r.path, 16*maxChanges)
	if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		r.log.Error("changes recorded so far cannot be read", zap.Error(err))
	}
	return append(text, r.unsaved...), err
}

func changesIn(text []byte) iter.Seq[wire.Change] {
	return func(yield func(wire.Change) bool) {
		for l := range bytes.Lines(text) {
			var c wire.Change
			if json.Unmarshal(l, &c) == nil && c.Hook != "" && !yield(c) { // else a line that was cut off
				return
			}
		}
	}
}

// keep takes a record into memory.
func (r *Changes) keep(c wire.Change) {
	switch c.Change {
	case "removed":
		delete(r.last, c.Hook)
	case "added", "changed":
		r.last[c.Hook] = known{digest: c.To, state: string(hook.Active), guard: c.Guard}
	case string(hook.Waiting):
		r.last[c.Hook] = known{c.From, c.Change, c.To, c.Guard}
	default:
		r.last[c.Hook] = known{digest: c.To, state: c.Change, guard: c.Guard}
	}
}

// Observe has observe called with each record, too; it must not block. Observe is called
// once, before Note and Settings.
func (r *Changes) Observe(observe func(wire.Change)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe = observe
}

// Note records the differences between snap and the last records. It returns the guards
// that can deny no more, also guards that went while no daemon ran.
func (r *Changes) Note(snap *hook.Snapshot) (gone []wire.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []wire.Change
	allowed := map[string]discovery.Approval{}
	if r.approved != nil {
		allowed = r.approved()
	}
	present := map[string]bool{SettingsRecord: true}
	for _, e := range snap.Entries {
		for _, h := range []*hook.Hook{e.Hook, e.Waits} { // both nil: a file that never was a hook
			if h != nil {
				present[h.ID] = true
			}
		}
		if e.Waits != nil {
			fresh = append(fresh, r.waiting(e, allowed)...)
		} else if e.Hook != nil {
			fresh = append(fresh, r.compare(e, allowed)...)
		}
	}
	for id, k := range r.last {
		if !present[id] {
			fresh = append(fresh, wire.Change{
				Hook: id, Change: "removed", From: k.digest, By: allowedBy(allowed[id]), Guard: k.guard,
				Why: rejection(snap, id),
			})
		}
	}
	slices.SortStableFunc(fresh, func(a, b wire.Change) int { return cmp.Compare(a.Hook, b.Hook) })
	gone = r.lost(fresh, snap)
	r.write(fresh)
	return gone
}

// rejection says why a hook cannot be read any more; "" = it is not there.
func rejection(snap *hook.Snapshot, id string) string {
	for _, e := range snap.Entries {
		if e.Name == id && e.Hook == nil && len(e.Problems) > 0 {
			return Worst(e.Problems).String()
		}
	}
	return ""
}

// lost returns the changes by which a guard can deny no more, and takes in which hooks are
// guards now.
func (r *Changes) lost(fresh []wire.Change, snap *hook.Snapshot) (gone []wire.Change) {
	guards := map[string]bool{}
	for _, h := range snap.Runnable() {
		guards[h.ID] = h.IsGuard()
	}
	for i, c := range fresh {
		was := r.last[c.Hook].guard
		fresh[i].Guard = guards[c.Hook] || was && c.Change == "removed"
		again := slices.ContainsFunc(gone, func(g wire.Change) bool { return g.Hook == c.Hook })
		if was && !guards[c.Hook] && !again {
			gone = append(gone, fresh[i])
		}
	}
	for id, is := range guards {
		if k, known := r.last[id]; known {
			k.guard = is
			r.last[id] = k
		}
	}
	return gone
}

// waiting returns the record of a version that waits to be allowed, unless there is one.
func (r *Changes) waiting(e hook.Entry, allowed map[string]discovery.Approval) []wire.Change {
	was := r.last[e.Waits.ID]
	if was.state == string(hook.Waiting) && was.waits == e.Waits.Digest {
		return nil
	}
	return []wire.Change{{
		Hook: e.Waits.ID, Change: string(hook.Waiting), From: was.digest, To: e.Waits.Digest,
		File: e.Waits.File, By: r.author(e, e.Waits, allowed), Why: Worst(e.Problems).String(),
	}}
}

// compare returns the records of one hook with another digest or another state.
func (r *Changes) compare(e hook.Entry, allowed map[string]discovery.Approval) (list []wire.Change) {
	h, was := e.Hook, r.last[e.Hook.ID]
	if was.digest == h.Digest && was.state == string(e.State) {
		return nil
	}
	c := wire.Change{Hook: h.ID, From: was.digest, To: h.Digest, File: h.File, By: r.author(e, h, allowed)}
	switch {
	case e.State == hook.Gone: // what is there is not another, but not there
	case was.digest == "":
		c.Change = "added"
	case was.digest != h.Digest:
		c.Change = "changed"
	}
	if c.Change != "" {
		list, was.state = append(list, c), string(hook.Active)
	}
	if was.state != string(e.State) {
		c.From, c.Change = h.Digest, string(e.State)
		if e.State == hook.Disabled || was.state == string(hook.Disabled) {
			c.By = cmp.Or(e.OffBy, r.markers.By(h.Name), c.By)
		}
		if len(e.Problems) > 0 {
			c.Why = Worst(e.Problems).String()
		}
		list = append(list, c)
	}
	return list
}

// authorTime is how long the files of a change may take to name their author.
const authorTime = time.Second

// author names the author of a change, as far as that can be known. For a change in
// files these are the owner and the time of the last write, be it to the folder that
// something is gone from. Files that do not answer name none.
func (r *Changes) author(e hook.Entry, h *hook.Hook, allowed map[string]discovery.Approval) string {
	if e.State != hook.Waiting && e.State != hook.Gone {
		if by := allowedBy(allowed[h.ID]); by != "" {
			return by
		}
	}
	var newest os.FileInfo
	inTime := r.files.Try("author", func() { newest = lastWritten(append([]string{h.File}, h.Seal.Own()...)) })
	if !inTime || newest == nil {
		return ""
	}
	return written(newest)
}

func lastWritten(paths []string) (newest os.FileInfo) {
	for _, path := range paths {
		if info := nearest(path); info != nil && (newest == nil || info.ModTime().After(newest.ModTime())) {
			newest = info
		}
	}
	return newest
}

func allowedBy(a discovery.Approval) string {
	if a.By == "" {
		return ""
	}
	return fmt.Sprintf("allowed by %s at %s", a.By, a.At.Format(time.RFC3339))
}

// nearest returns the file at path, or else the nearest existing folder above it.
func nearest(path string) os.FileInfo {
	for filepath.IsAbs(path) {
		if info, err := os.Stat(path); err == nil {
			return info
		}
		if path = filepath.Dir(path); path == "/" {
			break
		}
	}
	return nil
}

func written(info os.FileInfo) string {
	uid := strconv.FormatUint(uint64(info.Sys().(*syscall.Stat_t).Uid), 10)
	owner := "uid " + uid
	if u, err := user.LookupId(uid); err == nil {
		owner = u.Username + " (uid " + uid + ")"
	}
	return fmt.Sprintf("%s of %s, written %s", info.Name(), owner, info.ModTime().UTC().Format(time.RFC3339))
}

// SettingsRecord is the name of hookd.yaml in the records; no hook has such a name.
const SettingsRecord = "(settings)"

// write appends records to the file.
func (r *Changes) write(fresh []wire.Change) {
	if len(fresh) == 0 {
		return
	}
	if len(r.unsaved) > maxChanges {
		r.unsaved = nil // the disk stays broken
	}
	for _, c := range fresh {
		c.Time = time.Now().UTC()
		r.keep(c)
		if r.observe != nil {
			r.observe(c)
		}
		r.unsaved = append(r.unsaved, line(c)...)
	}
	if r.size+int64(len(r.unsaved)) > maxChanges {
		r.rewrite()
	} else if err := r.add(r.unsaved); err != nil {
		r.unsaved = append([]byte{'\n'}, r.unsaved...) // a part of it may be there
		r.log.Error("a change of a hook is not on record", zap.Error(err))
	}
}

func (r *Changes) add(text []byte) error {
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(r.path), 0o700); err == nil {
			f, err = os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		r.size, r.unsaved = r.size+int64(len(text)), nil
	}
	return err
}

func line(c wire.Change) []byte {
	text, _ := json.Marshal(c) // strings and a time
	return append(text, '\n')
}

// rewrite retains the newer half, and the last record of each hook.
func (r *Changes) rewrite() {
	size, seen := 0, map[string]bool{}
	var kept [][]byte
	text, err := r.text()
	if err != nil {
		return // what is there is not replaced by less
	}
	for _, c := range slices.Backward(slices.Collect(changesIn(text))) {
		_, there := r.last[c.Hook]
		if l := line(c); size+len(l) <= maxChanges/2 || there && !seen[c.Hook] {
			kept, size = append(kept, l), size+len(l)
		}
		seen[c.Hook] = true
	}
	slices.Reverse(kept)
	if err := replacefile.Write(r.path, bytes.Join(kept, nil)); err != nil {
		r.log.Error("the record of changes cannot be made smaller", zap.Error(err))
		return
	}
	r.size, r.unsaved = int64(size), nil
}

// shownChanges is how many changes of a hook Of returns.
const shownChanges = 10

// Of returns the last changes of a hook, newest first.
func (r *Changes) Of(id string) (list []wire.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, _ := r.text() // an error leaves the newest, and is logged
	for c := range changesIn(text) {
		if c.Hook == id {
			list = append(list, c)
		}
	}
	slices.Reverse(list)
	return list[:min(len(list), shownChanges)]
}
