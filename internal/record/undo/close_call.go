package undo

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/pause"
)

// oldTime is after which time a call is closed whose result has not come.
const oldTime = 10 * time.Minute

// oldStep is after which time a step is dropped that has not ended.
const oldStep = 7 * 24 * time.Hour

// OpenCalls returns the calls of a session that are open; "" = of all.
func (k *Keeper) OpenCalls(session string) (list []KeptCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.open {
		if session == "" || o.call.Session == session {
			list = append(list, o.call)
		}
	}
	return list
}

// Ran closes a call whose result has come: files that the call did not touch are dropped. A call that goes on
// in the background is closed later. Ran does not wait.
func (k *Keeper) Ran(id string) { closeSoon(k, id, endRan) }

// Ended closes the calls of a session that has come to rest: their results come no more.
func (k *Keeper) Ended(session string) {
	for _, c := range k.OpenCalls(session) {
		if !c.Later && c.Tool != Undo {
			closeSoon(k, c.ID, endUnseen)
		}
	}
}

func closeSoon(k *Keeper, id, end string) {
	k.mu.Lock()
	o := k.open[id]
	if o == nil || o.ends != nil || o.call.Later || o.call.Mark != "" {
		k.mu.Unlock()
		return
	}
	ends := make(chan struct{})
	o.ends = ends
	k.mu.Unlock()
	go func() {
		defer close(ends)
		k.closeCall(id, end, false)
	}()
}

// waitClosed waits until the calls of a session whose results have come are closed. Their effects
// must be seen before the next call changes them.
func (k *Keeper) waitClosed(session string, until time.Time) {
	k.mu.Lock()
	var ends []chan struct{}
	for _, o := range k.open {
		if o.ends != nil && o.call.Session == session {
			ends = append(ends, o.ends)
		}
	}
	k.mu.Unlock()
	for _, end := range ends {
		pause.For(time.Until(until), end)
	}
}

// CloseOld closes calls whose result has not come for ten minutes.
func (k *Keeper) CloseOld(now time.Time) {
	for _, c := range k.OpenCalls("") {
		switch age := now.Sub(c.Time); {
		case c.Mark != "" && age > oldStep:
			k.Discard(c.ID)
		case c.Mark == "" && age > oldTime:
			k.undoing.Lock()
			for _, of := range c.Undoes {
				if m, err := readManifest(k.dir(of)); err == nil {
					unstage(m)
				}
			}
			k.undoing.Unlock()
			k.closeCall(c.ID, endUnseen, true)
		}
	}
}

// closeCall compares each path now with the path before, and drops the untouched ones.
func (k *Keeper) closeCall(id, end string, now bool) {
	k.mu.Lock()
	o := k.open[id]
	k.mu.Unlock()
	if o == nil || o.call.Later && !now {
		return
	}
	o.late.stop()
	<-o.kept
	o.close.Lock()
	defer o.close.Unlock()
	m, err := readManifest(k.dir(id))
	if err != nil {
		k.forget(id)
		return
	}
	if o.call.Tool == Undo && end == endUnseen {
		end = Interrupted
	}
	k.addChanged(m, o)
	if k.compare(m, end) || len(k.Dumps.ofCall(&m.call)) > 0 {
		err = m.write()
	} else {
		k.remove(m)
	}
	if err != nil {
		k.log.Warn("what a call did is not on record", zap.String("call", id), zap.Error(err))
		return
	}
	k.forget(id)
	if m.call.Repo != "" && m.call.Mark == "" {
		go k.bases.refresh(string(m.call.Repo)) // the next call finds little to do
	}
}

// compare fills in the state of each path now. It returns false when nothing was touched, as far as that can be seen.
func (k *Keeper) compare(m *manifest, end string) bool {
	if m.summary == nil {
		m.summary = &summary{Word: Part, Lost: []Lost{{What: "the rest", Why: "hookd was killed while it kept"}}}
	}
	named := map[string]bool{}
	for _, e := range m.entries {
		named[string(e.Path)] = true
	}
	kept, before := m.entries[:0], m.summary.Bytes
	var files, paths int
	var size int64
	var missed losses
	for _, e := range m.entries {
		now, err := look(string(e.Path))
		if err != nil {
			now = state{Kind: kindDevice} // it is not known: as if it were changed
		}
		if !k.touched(&e, now) {
			if e.At != "" {
				_ = os.Remove(string(e.At))
				_ = os.Remove(string(e.At) + linkToo)
			}
			continue
		}
		e.After = &now
		if e.Soft {
			e.Index = indexOf(string(e.Path))
		}
		switch {
		case e.By == byNone:
			missed.add(string(e.Path), e.Why)
		case e.Was.Kind == kindFile:
			if !m.otherNames(&e, now) {
				missed.add(otherWords+string(e.Path), errOther.Error())
			}
			k.leave(&e, now, m.dir)
			size += e.Was.Room
			fallthrough
		default:
			if e.Was.Kind != kindDir && e.Was.Kind != kindGone {
				files++
			}
			paths++
		}
		kept = append(kept, e)
	}
	dropMoved(kept)
	m.entries = kept
	m.summary.Files, m.summary.Bytes, m.summary.Closed, m.summary.End = files, size, time.Now().UTC(), end
	m.summary.Lost = append(missed.all(), others(m.summary.Lost, named)...)
	m.summary.Word = wordOf(paths, m.summary.Lost)
	k.used.Add(size - before)
	return len(kept) > 0 || m.summary.Elsewhere && end == endRan
}

// otherNames looks at a file with several names that was copied, and has left its path. If nothing was written to
// it, the link to it is worth more than the copy. It returns false if names that are no entry may have other bytes now.
func (m *manifest) otherNames(e *entry, now state) bool {
	if e.By != byCopy && e.By != byClone || e.Was.Names < 2 {
		return true
	}
	link := string(e.At) + linkToo
	is, err := look(link)
	if err == nil && !e.Was.sameFile(now) && is.content() == e.Was.content() && e.Was.sameAttributes(is) &&
		os.Rename(link, string(e.At)) == nil {
		e.By = byLink
		return true
	}
	_ = os.Remove(link)
	known := uint64(0)
	for _, o := range m.entries {
		if o.Was.sameFile(e.Was) {
			known++
		}
	}
	return e.Was.sameFile(now) || known >= e.Was.Names || err == nil && is.Kind == kindFile && is.Names == 1
}

// dropMoved drops the links to files that a call has moved: they are where it moved them to, and have one name less
// then. Files of a circle of three or more keep their links: they cannot change places otherwise.
func dropMoved(list []entry) {
	at := map[[2]uint64]*entry{}
	for i, e := range list {
		if e.After.Kind == kindFile {
			at[e.After.inode()] = &list[i]
		}
	}
	for i := range list {
		e := &list[i]
		to := at[e.Was.inode()]
		linked := e.Effect == effectMove && e.By == byLink && e.Was.Kind == kindFile
		if linked && to != nil && to != e && ring(e, at) <= 2 {
			_ = os.Remove(string(e.At))
			e.By, e.At, e.Dest = byNote, "", to.Path
		}
	}
}

// ring returns how many files have gone round with the file of e; 0 = they have not. at has the files by their inodes
// after the call.
func ring(e *entry, at map[[2]uint64]*entry) int {
	o := at[e.Was.inode()]
	for n := 1; o != nil && n <= len(at); n++ {
		if o == e {
			return n
		}
		o = at[o.Was.inode()]
	}
	return 0
}

// others are the losses that are not of entries, which are counted again.
func others(list []Lost, named map[string]bool) (rest []Lost) {
	for _, l := range list {
		if !named[l.What] && !strings.HasPrefix(l.What, otherWords) {
			rest = append(rest, l)
		}
	}
	return rest
}

// touched reports whether a path is not as it was. A link to bytes that were written over is
// worth nothing any more, which is noted.
func (k *Keeper) touched(e *entry, now state) bool {
	if e.Was.untouched(now) && e.sameXattr() {
		return false
	}
	switch e.By {
	case byLink:
		if e.Was.sameFile(now) && e.Was.Kind == kindFile && (e.Was.Size != now.Size || e.Was.MTime != now.MTime) {
			k.log.Warn("a file was written to in place, and its old bytes are lost", zap.String("path", string(e.Path)))
			_ = os.Remove(string(e.At))
			e.By, e.At, e.Why = byNone, "", "it was written to in place, which was not foreseen"
		}
	case byClone, byCopy:
		if now.Kind == kindFile && now.Size == e.Was.Size && e.Was.sameAttributes(now) &&
			sameBytes(string(e.At), string(e.Path)) {
			return false
		}
	}
	return true
}

// maxCompared bounds the files whose bytes are compared.
const maxCompared = 256 << 20

// sameBytes reports whether two files have the same bytes; false where that is not known.
func sameBytes(a, b string) bool {
	one, err := openToRead(unix.AT_FDCWD, a)
	if err != nil {
		return false
	}
	defer one.Close()
	two, err := openToRead(unix.AT_FDCWD, b)
	if err != nil {
		return false
	}
	defer two.Close()
	first, second := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); at < maxCompared; {
		n, err := io.ReadFull(one, first)
		m, _ := io.ReadFull(two, second) // an error gives other bytes, which is what counts
		if n != m || !bytes.Equal(first[:n], second[:m]) {
			return false
		}
		if err != nil {
			return err == io.EOF || err == io.ErrUnexpectedEOF
		}
		at += int64(n)
	}
	return false
}

// maxText bounds a text that is kept to merge with.
const maxText = 256 << 10

// leave keeps the text that a call has left, so that later changes can be merged with it.
func (k *Keeper) leave(e *entry, now state, dir string) {
	if e.At == "" || now.Kind != kindFile || now.Size > maxText || e.Was.Size > maxText {
		return
	}
	f, err := openToRead(unix.AT_FDCWD, string(e.Path))
	if err != nil {
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	f.Close()
	if err != nil || len(text) > maxText || !utf8.Valid(text) {
		return
	}
	left := filepath.Join(dir, keptFolder, filepath.Base(string(e.At))+".left")
	if os.WriteFile(left, text, 0o600) == nil {
		e.Left = Path(left)
	}
}
