package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/wire"
)

// undoTime bounds how long an undo keeps the files that it replaces.
const undoTime = 10 * time.Minute

// Undo takes calls back, or says the result that this would have. id is the id of the undo.
func (k *Keeper) Undo(id string, r wire.UndoRequest) (wire.UndoAnswer, *wire.Error) {
	k.undoing.Lock()
	defer k.undoing.Unlock()
	calls, bad := k.choose(r)
	if bad != nil {
		return wire.UndoAnswer{}, bad
	}
	if calls = k.withEffects(calls); len(calls) == 0 {
		return wire.UndoAnswer{}, &wire.Error{
			Code: wire.CodeNotFound, Message: "the call destroyed nothing that was kept", Hint: "see `hookd undo`",
		}
	}
	p := makePlan(calls, r, k.all)
	a := k.answer(p)
	a.Preview = r.Preview
	if r.Preview || a.Word == wire.UndoRefused {
		return a, nil
	}
	p.releaseSame()
	if !slices.ContainsFunc(p.changes, (*change).acts) {
		return a, nil
	}
	if err := k.perform(id, p); err != nil {
		return a, &wire.Error{
			Code: wire.CodeInternal, Message: "nothing was changed: " + err.Error(), Hint: "see `hookd doctor`",
		}
	}
	a = k.answer(p)
	a.ID = id
	k.note(id, p, a.Word)
	return a, nil
}

// withEffects returns the calls with something to tell. A call whose result has not come may be about to
// run: withEffects looks at the call as it is now, and drops nothing.
func (k *Keeper) withEffects(calls []*manifest) (list []*manifest) {
	for _, m := range calls {
		open := m.summary == nil || m.summary.End == ""
		if open {
			m = asOfNow(m)
		}
		if open || len(m.entries) > 0 || m.summary.Elsewhere || len(k.Dumps.ofCall(&m.call)) > 0 {
			list = append(list, m)
		}
	}
	return list
}

// asOfNow is a call that is open, as if it had ended now.
func asOfNow(m *manifest) *manifest {
	now := *m
	now.entries = nil
	for _, e := range m.entries {
		is, err := look(string(e.Path))
		if err != nil || e.Was.untouched(is) {
			continue
		}
		e.After = &is
		written := e.Was.Size != is.Size || e.Was.MTime != is.MTime
		if e.By == byLink && e.Was.Kind == kindFile && e.Was.sameFile(is) && written {
			e.By, e.At, e.Why = byNone, "", "it was written to in place, which was not foreseen"
		}
		now.entries = append(now.entries, e)
	}
	return &now
}

// perform keeps the files that the plan replaces, under the id of the undo, then carries it out. After an
// error nothing was changed.
func (k *Keeper) perform(id string, p *plan) error {
	of := p.calls[0].call
	c := KeptCall{ID: id, Time: time.Now().UTC(), Tool: Undo, Session: of.Session, Agent: of.Agent}
	for _, m := range p.calls {
		c.Undoes = append(c.Undoes, m.call.ID)
	}
	c.Subject = "undo " + strings.Join(c.Undoes, " ")
	c.Cwd = p.calls[len(p.calls)-1].call.Cwd
	own := &keeping{
		k: k, call: c, dir: k.dir(id), folders: map[string]*folder{}, seen: map[string]bool{},
		limits: &budget{until: time.Now().Add(undoTime), callMax: 1 << 62, fileMax: 1 << 62},
	}
	if err := own.begin(); err != nil {
		return err
	}
	for _, s := range p.changes {
		if s.acts() {
			own.keepChange(s)
		}
	}
	r := own.result()
	if err := own.close(&r); err != nil {
		return err
	}
	done := make(chan struct{})
	close(done)
	opened(k, &open{call: c, kept: done, begun: c.Time})
	k.used.Add(r.Bytes)
	if len(r.Lost) > 0 {
		k.Discard(id)
		return fmt.Errorf("%s cannot be kept: %s", r.Lost[0].What, r.Lost[0].Why)
	}
	p.carryOut()
	k.closeCall(id, endRan, true)
	return nil
}

// keepChange keeps the file that a change replaces.
func (p *keeping) keepChange(s *change) {
	path, have := s.path, s.have
	if s.does == wire.UndoBeside {
		path, have = s.beside, gone
	}
	effect := effectReplace
	switch {
	case s.leaves && s.from == "": // with the change that it moves back for
		return
	case s.swaps != nil:
		p.one(target{path: s.path, effect: effectMove, dest: s.from}, s.have)
		return
	case s.from != "":
		p.one(target{path: s.path, effect: effectReplace}, s.have)
		p.one(target{path: s.from, effect: effectMove, dest: s.path}, s.first.Was)
		return
	case s.does == wire.UndoRemoved:
		effect = effectDelete
	case s.inPlace() || s.does == wire.UndoMerged:
		effect = effectWrite
	case have.Kind == kindDir && s.first.Was.Kind == kindDir, s.first.Effect == effectMode:
		effect = effectMode
	}
	for dir := filepath.Dir(path); have.Kind == kindGone && !p.seen[dir] && !exists(dir); dir = filepath.Dir(dir) {
		p.one(target{path: dir, effect: effectReplace}, gone)
	}
	p.one(target{path: path, effect: effect, soft: s.first.Soft}, have)
}

// inPlace reports whether a file gets its bytes back in place: another name has the same ones.
func (s *change) inPlace() bool {
	return s.have.Kind == kindFile && s.first.At != "" && s.first.By != byLink && s.have.sameFile(s.first.Was) &&
		s.have.Names > 1
}

// carryOut changes the paths. Moved files go back first, then the files that the calls made go.
// Then folders come back, then files, then the attributes of folders.
func (p *plan) carryOut() {
	each := func(fits func(*change) bool, do func(*change) error, backwards bool) {
		list := slices.Clone(p.changes)
		if backwards {
			slices.Reverse(list)
		}
		for _, s := range list {
			if s.acts() && fits(s) {
				if err := do(s); err != nil {
					s.does, s.why = wire.UndoLeft, reason(err)
				}
			}
		}
	}
	folder := func(s *change) bool {
		return s.does == wire.UndoBack && s.from == "" && s.swaps == nil && s.first.Was.Kind == kindDir
	}
	each(func(s *change) bool { return s.from != "" }, (*change).moveBack, false)
	each(func(s *change) bool { return s.does == wire.UndoRemoved && !s.leaves && s.have.Kind != kindDir },
		(*change).removeFile, true)
	each(folder, (*change).makeFolder, false)
	file := func(s *change) bool {
		return s.from == "" && s.swaps == nil && s.does != wire.UndoRemoved && !folder(s)
	}
	// A file that lives on under another name gets its bytes first: links to it are good again then.
	each(func(s *change) bool { return file(s) && s.inPlace() }, (*change).restore, false)
	names := map[state]string{}
	for _, s := range p.changes {
		if s.does == wire.UndoSame || s.does == wire.UndoBack && file(s) && s.inPlace() {
			names[s.first.Was.content()] = s.path
		}
	}
	each(func(s *change) bool { return file(s) && !s.inPlace() }, func(s *change) error {
		s.other = names[s.first.Was.content()]
		err := s.restore()
		if err == nil && s.does == wire.UndoBack {
			names[s.first.Was.content()] = s.path
		}
		return err
	}, false)
	each(func(s *change) bool { return s.does == wire.UndoRemoved && !s.leaves && s.have.Kind == kindDir },
		(*change).removeFolder, true)
	each(folder, (*change).finishFolder, true)
}

// note puts on the record of each call that it was taken back.
func (k *Keeper) note(id string, p *plan, word string) {
	text, _ := json.Marshal(undone{By: id, Word: word, Time: time.Now().UTC()}) // texts alone
	for _, m := range p.calls {
		if err := replacefile.Write(filepath.Join(m.dir, undoneFile), text); err != nil {
			k.log.Warn("that a call was taken back is not on record")
		}
	}
	for _, m := range p.calls {
		if m.call.Tool == Undo { // an undo that was taken back: its calls are not taken back any more
			for _, of := range m.call.Undoes {
				_ = os.Remove(filepath.Join(k.dir(of), undoneFile))
			}
		}
	}
}

// errWay is the error of a path whose folders have changed into other things.
var errWay = errors.New("a folder on the way to it is a link, or no folder, now")

// openWay opens the folder of a path, and makes it where it is missing. No link is followed: the file
// comes back where it was, and nowhere else.
func openWay(path string) (fd int, name string, err error) {
	parts := strings.Split(strings.Trim(filepath.Dir(path), "/"), "/")
	fd, err = openFolder(unix.AT_FDCWD, "/")
	for _, part := range parts {
		if err != nil {
			break
		}
		if part == "" {
			continue
		}
		next, problem := openFolder(fd, part)
		if problem == unix.ENOENT {
			if problem = unix.Mkdirat(fd, part, 0o755); problem == nil || problem == unix.EEXIST {
				next, problem = openFolder(fd, part)
			}
		}
		unix.Close(fd)
		fd, err = next, problem
	}
	switch err {
	case nil:
		return fd, filepath.Base(path), nil
	case unix.ELOOP, unix.ENOTDIR, unix.EMLINK:
		return -1, "", errWay
	}
	return -1, "", &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
}

// within calls do with the folder of a path.
func within(path string, do func(dir int, name string) error) error {
	dir, name, err := openWay(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	err = do(dir, name)
	var is unix.Stat_t
	if errors.Is(err, unix.EACCES) && unix.Fstat(dir, &is) == nil && is.Mode&0o300 != 0o300 &&
		unix.Fchmod(dir, uint32(is.Mode)&0o7777|0o300) == nil { // its owner may not change it, as the call found it
		err = errors.Join(do(dir, name), unix.Fchmod(dir, uint32(is.Mode)&0o7777))
	}
	return err
}

var errSince = errors.New("it changed since")

func (s *change) moveBack() error {
	return within(s.from, func(from int, old string) error {
		now, err := lookAt(from, old)
		if err != nil || !now.sameFile(s.first.Was) {
			return errors.Join(errSince, err)
		}
		return within(s.path, func(to int, name string) error {
			if now, err := lookAt(to, name); err != nil || now.Kind != kindGone && !s.have.untouched(now) {
				return errors.Join(errSince, err)
			} else if s.swaps != nil {
				done, err := swap(from, old, to, name)
				if s.swaps.from = ""; err == nil && !done {
					return errors.New("the file system exchanges no files")
				}
				return err
			} else if now.Kind != kindGone { // it is kept
				return unix.Renameat(from, old, to, name)
			}
			return place(from, old, to, name)
		})
	})
}

func (s *change) removeFile() error {
	return within(s.path, func(dir int, name string) error {
		now, err := lookAt(dir, name)
		if err != nil || !s.have.untouched(now) {
			return errors.Join(errSince, err)
		}
		return unix.Unlinkat(dir, name, 0)
	})
}

func (s *change) removeFolder() error {
	return within(s.path, removeEmpty)
}

func removeEmpty(dir int, name string) error {
	err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	if err == unix.ENOTEMPTY || err == unix.EEXIST {
		return errors.New("other files are in it")
	}
	if err == unix.ENOENT {
		return nil
	}
	return err
}

func (s *change) makeFolder() error {
	if s.have.Kind == kindDir {
		return nil
	}
	return within(s.path, func(dir int, name string) error {
		if s.have.Kind != kindGone { // it is kept: see keepChange
			if err := unix.Unlinkat(dir, name, 0); err != nil {
				return err
			}
		}
		err := unix.Mkdirat(dir, name, 0o700)
		if err == unix.EEXIST {
			return nil
		}
		return err
	})
}

func (s *change) finishFolder() error {
	return within(s.path, func(dir int, name string) error {
		fd, err := openFolder(dir, name)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return setAttributes(dir, name, fd, s.first)
	})
}

// setAttributes gives an open file or folder its owner, permissions, extended attributes and times.
func setAttributes(dir int, name string, fd int, e *entry) error {
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return err
	}
	var errs []error
	mode := e.Was.Mode
	if is.Uid != e.Was.UID || is.Gid != e.Was.GID {
		err := unix.Fchown(fd, int(e.Was.UID), int(e.Was.GID))
		if err == unix.EPERM && is.Uid != e.Was.UID { // said before, see at
			err, mode = nil, mode&0o777
		}
		errs = append(errs, err)
	}
	errs = append(append(errs, unix.Fchmod(fd, mode)), setXattr(fd, e)...)
	return errors.Join(append(errs, setTimes(dir, name, e))...)
}

func setXattr(fd int, e *entry) (errs []error) {
	for name, value := range e.Xattr {
		if err := unix.Fsetxattr(fd, name, value, 0); err != nil && !strings.HasPrefix(name, "security.") {
			errs = append(errs, fmt.Errorf("set the attribute %s: %w", name, err))
		}
	}
	return errs
}

func setTimes(dir int, name string, e *entry) error {
	times := []unix.Timespec{unix.NsecToTimespec(e.Was.ATime), unix.NsecToTimespec(e.Was.MTime)}
	return unix.UtimesNanoAt(dir, name, times, unix.AT_SYMLINK_NOFOLLOW)
}

// restore brings a file back, or writes beside it, or merges.
func (s *change) restore() error {
	switch s.does {
	case wire.UndoBeside:
		return within(s.beside, func(dir int, name string) error { return s.bring(dir, name, gone) })
	case wire.UndoMerged:
		return s.writeMerged()
	}
	return within(s.path, func(dir int, name string) error {
		now, err := lookAt(dir, name)
		switch {
		case err != nil:
			return err
		case s.inPlace() && now.content() == s.first.Was.content() && now.sameAttributes(s.first.Was):
			return nil // another name has brought it back
		case now.Kind != s.have.Kind || now.Kind != kindGone && !s.have.untouched(now):
			return errSince
		case s.first.Effect == effectMode:
			return s.setMode(dir, name)
		case s.inPlace():
			return s.writeBack(dir, name)
		case now.Kind == kindDir: // the call made it
			if err := removeEmpty(dir, name); err != nil {
				return err
			}
			now = gone
		}
		return s.bring(dir, name, now)
	})
}

// setMode gives a path its owner, permissions and extended attributes back, not its times.
func (s *change) setMode(dir int, name string) error {
	was := s.first.Was
	err := unix.Fchownat(dir, name, int(was.UID), int(was.GID), unix.AT_SYMLINK_NOFOLLOW)
	if was.Kind == kindLink {
		return err
	}
	err = errors.Join(err, unix.Fchmodat(dir, name, was.Mode, 0))
	if s.first.Effect != effectMode {
		return err
	}
	f, bad := openToRead(dir, name)
	if bad != nil {
		return errors.Join(err, bad)
	}
	defer f.Close()
	for name := range attributes(int(f.Fd())) {
		if _, had := s.first.Xattr[name]; !had {
			err = errors.Join(err, unix.Fremovexattr(int(f.Fd()), name))
		}
	}
	return errors.Join(append(setXattr(int(f.Fd()), s.first), err)...)
}

// writeBack writes the kept bytes into the file that is there: its other names get them, too.
func (s *change) writeBack(dir int, name string) error {
	text, err := openToRead(unix.AT_FDCWD, s.at())
	if err != nil {
		return err
	}
	defer text.Close()
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	defer to.Close()
	size := s.first.Was.Size
	for start, end := range stretches(text, 0, size) {
		if err := reserve(fd, start, end-start); err != nil {
			return err
		}
	}
	at := int64(0)
	emptied := func(end int64) (err error) { // zeros go over data where the kept file has a hole
		for from, until := range stretches(to, at, end) {
			err = errors.Join(err, copyRange(text, to, from, until, nil))
		}
		return err
	}
	for start, end := range stretches(text, 0, size) {
		if err := errors.Join(emptied(start), copyRange(text, to, start, end, nil)); err != nil {
			return err
		}
		at = end
	}
	if err := emptied(size); err != nil {
		return err
	}
	return errors.Join(to.Truncate(size), to.Sync(), setAttributes(dir, name, fd, s.first))
}

// stagedName is the name of an old version until it takes its place.
func stagedName(call string, e *entry) string {
	if e.At == "" {
		return ".hookd-undo-" + call + "-link"
	}
	return ".hookd-undo-" + call + "-" + filepath.Base(string(e.At))
}

// unstage removes the old versions that a killed undo of a call has not put into place. The vault has them.
func unstage(m *manifest) {
	for i := range m.entries {
		e := &m.entries[i]
		_ = os.Remove(filepath.Join(filepath.Dir(string(e.Path)), stagedName(m.call.ID, e)))
	}
}

// bring puts the kept version to a name, which is free if now is gone. A file that is there instead goes
// in the same step.
func (s *change) bring(dir int, name string, now state) error {
	staged := stagedName(s.call, s.first)
	_ = unix.Unlinkat(dir, staged, 0) // of an undo that was killed: the vault has it still
	if err := s.stage(dir, staged); err != nil {
		return err
	}
	defer func() { _ = unix.Unlinkat(dir, staged, 0) }()
	if now.Kind == kindGone {
		if err := place(dir, staged, dir, name); err != nil {
			return err
		}
		return s.release()
	}
	done, err := swap(dir, staged, dir, name)
	if err != nil {
		return err
	}
	if !done {
		return errors.Join(unix.Renameat(dir, staged, dir, name), s.release())
	}
	if out, err := lookAt(dir, staged); err != nil || !now.untouched(out) {
		_, back := swap(dir, staged, dir, name)
		return errors.Join(errSince, err, back)
	}
	return s.release()
}

// release drops a link in the vault whose file is back: with it, later writes would reach the
// vault.
func (s *change) release() error {
	if s.first.By == byLink && s.does != wire.UndoBeside { // or it is a link to another file by now
		return os.Remove(string(s.first.At))
	}
	return nil
}

// releaseSame drops the links whose files are in place: an undo that was killed has left them.
func (p *plan) releaseSame() {
	for _, s := range p.changes {
		if s.does == wire.UndoSame && s.first.By == byLink {
			if kept, err := look(string(s.first.At)); err == nil && kept.sameFile(s.have) {
				_ = os.Remove(string(s.first.At)) // a link that stays is told once it is spoilt
			}
		}
	}
}

// alone reports whether the kept file itself comes back. It does not where it is the file under
// another name by now, as a backup is, or stays in the vault.
func (s *change) alone() bool {
	if s.first.By != byLink || s.does == wire.UndoBeside || s.source != "" && s.first.spoilt() {
		return false
	}
	now, err := look(string(s.first.At))
	return err == nil && (now.Kind != kindFile || now.Names == 1 || s.first.Was.Names > 1)
}

// stage makes the old version under a name in its folder.
func (s *change) stage(dir int, staged string) error {
	e := s.first
	if e.Was.Kind == kindLink && e.At == "" {
		if err := unix.Symlinkat(string(e.Was.Target), dir, staged); err != nil {
			return err
		}
		err := unix.Fchownat(dir, staged, int(e.Was.UID), int(e.Was.GID), unix.AT_SYMLINK_NOFOLLOW)
		return errors.Join(err, setTimes(dir, staged, e))
	}
	if s.alone() {
		err := uninterrupted(func() error { return unix.Linkat(unix.AT_FDCWD, string(e.At), dir, staged, 0) })
		if err == nil {
			now, bad := lookAt(dir, staged)
			if bad != nil || !e.Was.sameAttributes(now) { // the call changed them before it deleted the file
				err = errors.Join(bad, s.setMode(dir, staged))
			}
		}
		if err != unix.EXDEV && err != unix.EPERM && err != unix.EMLINK {
			return err
		}
	}
	if e.Was.Kind != kindFile {
		return errors.New("it cannot be copied back")
	}
	if s.other != "" && e.Was.Names > 1 && s.does != wire.UndoBeside {
		is, err := look(s.other)
		if err == nil && is.Size == e.Was.Size && is.MTime == e.Was.MTime && is.sameAttributes(e.Was) &&
			uninterrupted(func() error { return unix.Linkat(unix.AT_FDCWD, s.other, dir, staged, 0) }) == nil {
			return nil
		}
	}
	from, err := openToRead(unix.AT_FDCWD, s.at())
	if err != nil {
		return err
	}
	defer from.Close()
	if clone(int(from.Fd()), dir, staged) != nil {
		if err := copyFile(from, e.Was.Size, dir, staged, nil); err != nil {
			return err
		}
	}
	fd, err := unix.Openat(dir, staged, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), staged)
	defer to.Close()
	return errors.Join(to.Sync(), setAttributes(dir, staged, fd, e))
}

// merged returns the old version with the changes made since; clean is false where both changed the
// same lines.
func (s *change) merged() (text []byte, clean bool) {
	text, clean, err := git.MergeFile(context.Background(), s.path, string(s.left), s.at())
	return text, clean && err == nil
}

func (s *change) merges() bool {
	_, clean := s.merged()
	return clean
}

func (s *change) writeMerged() error {
	text, clean := s.merged()
	if !clean {
		return errSince
	}
	return within(s.path, func(dir int, name string) error {
		now, err := lookAt(dir, name)
		if err != nil || !s.have.untouched(now) {
			return errors.Join(errSince, err)
		}
		fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		to := os.NewFile(uintptr(fd), name)
		if err = reserve(fd, 0, int64(len(text))); err == nil {
			_, err = to.Write(text)
			err = errors.Join(err, to.Truncate(int64(len(text))))
		}
		return errors.Join(err, to.Close())
	})
}
