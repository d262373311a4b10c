package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/facts"
)

// keeping keeps the files that one call is about to destroy.
type keeping struct {
	k         *Keeper
	o         *open // nil = of an undo or a step
	call      KeptCall
	limits    *budget
	dir       string // of the call, in the home vault
	out       *writer
	folders   map[string]*folder // by vault
	seen      map[string]bool    // paths with an entry
	files     int                // without folders
	paths     int                // with them
	bytes     int64
	lost      losses
	late      bool
	n         int               // of the last kept file
	names     map[[2]uint64]int // of files that the call names
	elsewhere bool              // it destroys something that is no file of this machine
	dumped    bool              // a hook has put a dump into the vault
	again     map[string]bool   // whether git ignores folders, by repository and name
	publish   func()            // is called once, when the time is over
	counted   counter           // of the files in trees
}

// folder is a call's folder in one vault.
type folder struct {
	fd   int
	path string
}

// afterTime is how long keeping by links goes on when the verdict is given: rm is slower than that.
const afterTime = 20 * time.Second

// run keeps all targets. It returns the result, whose Deny is set if nothing was kept because a
// vault would be destroyed.
func (p *keeping) run(f *facts.Facts) Copied {
	aims := aimsOf(f, p.limits)
	for _, t := range aims.targets {
		if vault := p.k.vaults.holds(t.path, t.tree || t.effect == effectMove); vault != "" {
			return Copied{Deny: fmt.Sprintf("it would destroy what `hookd undo` brings back, in %s", vault)}
		}
	}
	for _, l := range aims.lost {
		p.lost.add(l.What, l.Why)
	}
	wait := func() {}
	if aims.unknown != "" {
		wait = p.unknownFirst(aims.unknown)
	}
	p.keepAll(aims.targets)
	wait()
	if p.dumped {
		p.paths++
	}
	p.elsewhere = len(aims.lost) > 0
	if (p.dumped || p.elsewhere) && p.out == nil {
		if err := p.begin(); err != nil {
			p.lost.add("the record of the call", reason(err))
		}
	}
	return p.result()
}

// keepAll keeps single files first, in place before the others, then folders.
func (p *keeping) keepAll(targets []target) {
	type found struct {
		target
		was state
	}
	last := func(a, b found) int { // a note of modes would do for a path that is destroyed as well
		switch {
		case a.effect == b.effect:
			return 0
		case a.effect == effectMode:
			return 1
		case b.effect == effectMode:
			return -1
		}
		return 0
	}
	var single, trees []found
	for _, t := range targets {
		t.path = withoutLinks(t.path)
		was, err := look(t.path)
		switch {
		case err != nil:
			p.lose(t.path, err)
		case was.Kind == kindGone && !t.made:
		case was.Kind == kindDir && t.tree:
			trees = append(trees, found{t, was})
		default:
			single = append(single, found{t, was})
		}
	}
	slices.SortStableFunc(trees, last)
	slices.SortStableFunc(single, func(a, b found) int {
		if by := last(a, b); by != 0 {
			return by
		}
		first := func(f found) int {
			switch {
			case f.leaves:
				return 0
			case f.effect == effectWrite:
				return 1
			}
			return 2
		}
		if by := first(a) - first(b); by != 0 {
			return by
		}
		return int(min(max(a.was.Size-b.was.Size, -1), 1))
	})
	p.names = map[[2]uint64]int{}
	named := map[string]bool{}
	for _, f := range single {
		if named[f.path] {
			continue
		}
		named[f.path] = true
		p.names[f.was.inode()]++
	}
	for _, f := range single {
		p.one(f.target, f.was)
	}
	count := time.AfterFunc(time.Until(p.limits.until)/2, func() {
		for _, f := range trees {
			p.counted.below(unix.AT_FDCWD, f.path)
		}
		p.counted.whole.Store(!p.counted.stop.Load())
	})
	defer count.Stop()
	defer p.counted.stop.Store(true)
	for _, f := range trees {
		p.tree(f.target, f.was)
	}
}

// withoutLinks is a path whose folders are no links.
func withoutLinks(path string) string {
	// Of a folder that is gone, the path stays as it is written.
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return path
}

// one keeps a path that is no folder, or a folder alone.
func (p *keeping) one(t target, was state) {
	dir, name := filepath.Split(t.path)
	if was.Kind == kindGone {
		p.at(t, -1, name, was)
		return
	}
	fd, err := openFolder(unix.AT_FDCWD, filepath.Clean(dir))
	if err != nil {
		p.lose(t.path, err)
		return
	}
	defer unix.Close(fd)
	p.at(t, fd, name, was)
}

// at keeps the path whose folder is open.
func (p *keeping) at(t target, dir int, name string, was state) {
	if p.seen[t.path] {
		return
	}
	e := entry{Path: Path(t.path), Effect: t.effect, Was: was, Dest: Path(t.dest), Soft: t.soft, By: byNote}
	switch was.Kind {
	case kindGone:
		e.Effect = effectCreate
	case kindDir:
		if fd, err := openFolder(dir, name); err == nil {
			e.Xattr = attributes(fd)
			unix.Close(fd)
		}
	case kindDevice:
		p.lost.add(t.path, "it is a device")
		return
	default:
		if t.effect == effectMode {
			e.Xattr = attributesOf(t.path)
			break
		}
		if p.k.settings.Load().never(t.path) {
			p.lost.add(t.path, errNever.Error())
			return
		}
		if err := p.hold(&e, dir, name); err != nil {
			p.lose(t.path, err)
			e.By, e.Why = byNone, reason(err)
			if !errors.Is(err, fs.ErrNotExist) {
				p.write(&e)
			}
			return
		}
		p.bytes += was.Room
		if t.leaves && was.Kind == kindFile && int(was.Names) > p.names[was.inode()] {
			p.lost.add(otherWords+t.path, errOther.Error())
		}
		if me := os.Geteuid(); e.By != byLink && was.Kind == kindFile && me != 0 && int(was.UID) != me {
			p.lost.add("the owner of "+t.path, errOwner.Error())
		}
	}
	p.write(&e)
	if was.Kind == kindGone {
		return
	}
	if p.paths++; was.Kind != kindDir {
		p.files++
	}
}

// write puts an entry into the manifest.
func (p *keeping) write(e *entry) {
	p.seen[string(e.Path)] = true
	if p.out == nil {
		if err := p.begin(); err != nil {
			p.lose(string(e.Path), err)
			return
		}
	}
	if err := p.out.add(e); err != nil {
		p.lose(string(e.Path), err)
	}
}

// begin makes the folder of the call.
func (p *keeping) begin() (err error) {
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}
	p.out, err = newWriter(p.dir, &p.call)
	return err
}

// hold keeps the bytes of a path in a vault.
func (p *keeping) hold(e *entry, dir int, name string) error {
	if p.out == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	place, near := p.place(e)
	if place == nil {
		return errors.New("there is no vault to keep it in")
	}
	kept := p.nextName()
	e.At = Path(filepath.Join(place.path, kept))
	if e.Effect != effectWrite && near || e.Was.Kind != kindFile && near {
		err := uninterrupted(func() error { return unix.Linkat(dir, name, place.fd, kept, 0) })
		if err == nil {
			return p.linked(e, place, kept)
		}
		if err == unix.ENOENT {
			return &fs.PathError{Op: "link", Path: name, Err: err}
		}
	}
	if p.late {
		return errLate
	}
	switch e.Was.Kind {
	case kindLink:
		e.By, e.At = byNote, "" // where it leads is in the entry
		return nil
	case kindFile:
		err := p.duplicate(e, dir, name, place, kept)
		if home := p.open(p.k.vaults.home); errors.Is(err, unix.ENOSPC) && home != nil && home != place {
			e.At = Path(filepath.Join(home.path, kept))
			err = p.duplicate(e, dir, name, home, kept)
		}
		return err
	}
	return errors.New("it cannot be copied")
}

// largeClone is the size of a file whose clone may take more than a moment.
const largeClone = 16 << 20

// linkToo ends the name of a link to a file with several names that is kept by a copy as well.
const linkToo = ".link"

// nextName returns the name of the next kept file.
func (p *keeping) nextName() string {
	p.n++
	return fmt.Sprintf("%06d", p.n)
}

// linked notes a file that is kept by a link: its time of change is now another.
func (p *keeping) linked(e *entry, place *folder, kept string) error {
	e.By = byLink
	if now, err := lookAt(place.fd, kept); err == nil {
		e.Was = now
		e.Was.Names = max(1, now.Names-1)
	}
	return nil
}

// duplicate clones or copies a file.
func (p *keeping) duplicate(e *entry, dir int, name string, place *folder, kept string) error {
	from, err := openToRead(dir, name)
	if err != nil {
		return err
	}
	defer from.Close()
	fd := int(from.Fd())
	e.Xattr = attributes(fd)
	for try := 0; ; try++ {
		p.limits.slow.Store(e.Was.Size > largeClone)
		e.By = byClone
		err := clone(fd, place.fd, kept)
		p.limits.slow.Store(false)
		if err != nil {
			e.By = byCopy
			if try == 0 {
				if err := p.limits.takes(room(from, e.Was.Size)); err != nil {
					return err
				}
			}
			if err := copyFile(from, e.Was.Size, place.fd, kept, p.limits.over); err != nil {
				return err
			}
		}
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil {
			return err
		}
		now := stateOf(&s)
		if now.Size == e.Was.Size && now.MTime == e.Was.MTime {
			if now.Names > 1 { // see otherNames; elsewhere than on its file system there is no link
				_ = unix.Linkat(dir, name, place.fd, kept+linkToo, 0)
			}
			return nil
		}
		if err := unix.Unlinkat(place.fd, kept, 0); err != nil || try > 0 {
			return errors.Join(errChanged, err)
		}
		e.Was = now
	}
}

// place returns the folder for a kept file, and whether it is on the file's own file system.
func (p *keeping) place(e *entry) (f *folder, near bool) {
	vault := p.k.vaults.home
	if e.Was.Dev != p.k.dev {
		if other := p.k.vaults.nearest(filepath.Dir(string(e.Path)), e.Was.Dev); other != "" {
			vault = other
		} else {
			return p.open(p.k.vaults.home), false
		}
	}
	return p.open(vault), true
}

// open opens the call's folder in a vault; nil = it cannot be made.
func (p *keeping) open(vault string) *folder {
	if f, known := p.folders[vault]; known {
		return f
	}
	parent, name := vault, p.call.ID
	if vault == p.k.vaults.home {
		parent, name = p.dir, keptFolder
	}
	fd, path, err := openPlace(parent, name)
	if err != nil {
		p.folders[vault] = nil
		return nil
	}
	p.folders[vault] = &folder{fd, path}
	return p.folders[vault]
}

// lose notes that a path is not kept.
func (p *keeping) lose(path string, err error) {
	if errors.Is(err, errLate) {
		p.tooLate()
	}
	p.lost.add(path, reason(err))
}

// reason is an error in the words of a list.
func reason(err error) string {
	for _, known := range []error{errLate, errLarge, errCap, errFull, errChanged, errNever} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "hookd may not read it"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return errFull.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "it was gone before it was kept"
	}
	return err.Error()
}

// expired reports whether the time is over. When it is, expired publishes the result so far once;
// from then on links alone are made.
func (p *keeping) expired() bool {
	if !p.late && p.limits.over() {
		p.tooLate()
	}
	return p.late
}

func (p *keeping) tooLate() {
	if !p.late {
		p.late = true
		p.limits.until = time.Now().Add(afterTime)
		if p.out != nil {
			if err := p.out.b.Flush(); err != nil {
				p.lost.add("all", reason(err))
				p.paths, p.files = 0, 0
			}
		}
		if p.publish != nil {
			p.counted.stop.Store(true)
			p.publish()
		}
	}
}

// result is the state of the keeping by now.
func (p *keeping) result() Copied {
	r := Copied{Files: p.files, Bytes: p.bytes, Lost: p.lost.all(), Late: p.late}
	r.Word = wordOf(p.paths, r.Lost)
	return r
}

// close seals the manifest; a call that nothing was kept for leaves nothing.
func (p *keeping) close(r *Copied) error {
	for _, f := range p.folders {
		if f != nil {
			unix.Close(f.fd)
		}
	}
	if p.out == nil {
		return nil
	}
	return p.out.close(&summary{
		Word: r.Word, Files: r.Files, Bytes: r.Bytes, Lost: r.Lost, Late: r.Late, TookUS: r.Took.Microseconds(),
		Elsewhere: p.elsewhere,
	})
}
