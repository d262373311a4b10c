package undo

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxDepth bounds how deep folders are walked.
const maxDepth = 200

// tree keeps a folder and all below it, without leaving its file system.
func (p *keeping) tree(t target, was state) {
	if t.effect == effectMove && p.movesWithin(t, was) {
		p.one(t, was) // the bytes move with it
		return
	}
	if p.madeAgain(t.path) {
		return
	}
	fd, err := openFolder(unix.AT_FDCWD, t.path)
	if err != nil {
		p.lose(t.path, err)
		return
	}
	if !t.inner {
		p.one(target{path: t.path, effect: t.effect, dest: t.dest, soft: t.soft}, was)
	}
	p.below(t, fd, was.Dev, 0)
}

// movesWithin reports whether a move stays on one file system, so that nothing is copied.
func (p *keeping) movesWithin(t target, was state) bool {
	for dir := filepath.Dir(t.dest); t.dest != ""; dir = filepath.Dir(dir) {
		is, err := look(dir)
		if err != nil {
			return false
		}
		if is.Kind == kindDir {
			return is.Dev == was.Dev
		}
	}
	return false
}

// below keeps the contents of an open folder, which it closes. It goes as rm goes, so that it stays ahead when
// the time is over and the call runs.
func (p *keeping) below(t target, fd int, dev uint64, depth int) {
	dir := os.NewFile(uintptr(fd), t.path)
	defer dir.Close()
	for {
		list, err := dir.ReadDir(512)
		for _, d := range list {
			name := d.Name()
			switch {
			case p.expired() && !p.byLink(t):
				p.lost.add(filepath.Join(t.path, name), errLate.Error())
			case p.stopped():
				return
			case d.Type().IsRegular() && p.linkFirst(t, fd, name, dev):
			case d.IsDir() || p.child(t, fd, name, dev):
				p.folder(t, fd, name, dev, depth+1)
			}
		}
		if err != nil || len(list) == 0 {
			return
		}
	}
}

// linkFirst keeps a file by a link before it looks at it: one look is enough then.
func (p *keeping) linkFirst(t target, dir int, name string, dev uint64) bool {
	path := t.path + "/" + name
	if t.effect != effectDelete && t.effect != effectReplace || p.seen[path] || p.k.settings.Load().never(path) {
		return false
	}
	if p.out == nil && p.begin() != nil {
		return false
	}
	e := entry{Path: Path(path), Effect: t.effect, By: byLink, Soft: t.soft, Was: state{Dev: dev}}
	place, near := p.place(&e)
	if place == nil || !near {
		return false
	}
	kept := p.nextName()
	if uninterrupted(func() error { return unix.Linkat(dir, name, place.fd, kept, 0) }) != nil {
		return false // child tells why
	}
	was, err := lookAt(place.fd, kept)
	if err != nil || was.Kind != kindFile {
		_ = unix.Unlinkat(place.fd, kept, 0)
		return false
	}
	e.At, e.Was = Path(place.path+"/"+kept), was
	e.Was.Names = max(1, was.Names-1)
	p.bytes += was.Room
	p.write(&e)
	p.paths++
	p.files++
	return true
}

// child keeps one name of an open folder; for a folder it only returns true.
func (p *keeping) child(t target, fd int, name string, dev uint64) (folder bool) {
	path := filepath.Join(t.path, name)
	was, err := lookAt(fd, name)
	switch {
	case err != nil:
		p.lose(path, err)
		return false
	case was.Kind == kindGone:
		if p.late {
			p.lost.add(path, reason(fs.ErrNotExist))
		}
		return false
	case was.Kind == kindDir:
		return true
	case was.Dev != dev:
		p.lost.add(path, "it is on another file system")
		return false
	}
	p.at(target{path: path, effect: t.effect, soft: t.soft}, fd, name, was)
	return false
}

// folder keeps a folder of an open folder.
func (p *keeping) folder(t target, parent int, name string, dev uint64, depth int) {
	path := filepath.Join(t.path, name)
	was, err := lookAt(parent, name)
	switch {
	case err != nil:
		p.lose(path, err)
		return
	case was.Kind == kindGone && p.late:
		p.lost.add(path, reason(fs.ErrNotExist))
		return
	case was.Kind != kindDir:
		return
	case was.Dev != dev:
		p.lost.add(path, "it is on another file system")
		return
	case depth > maxDepth:
		p.lost.add(path, "it is too deep")
		return
	case p.madeAgain(path):
		return
	}
	p.at(target{path: path, effect: t.effect, soft: t.soft}, parent, name, was)
	fd, err := openFolder(parent, name)
	if err != nil {
		p.lose(path, err)
		return
	}
	p.below(target{path: path, effect: t.effect, soft: t.soft}, fd, dev, depth)
}

// byLink reports whether keeping may go on when the verdict is given: a link is whole, or is not.
func (p *keeping) byLink(t target) bool { return t.effect == effectDelete }

// stopped reports whether the call has ended, or the time after the verdict.
func (p *keeping) stopped() bool { return p.late && p.limits.over() }
