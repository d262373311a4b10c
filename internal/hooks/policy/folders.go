package policy

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// Prefixes of the folders in a home from which no daemon reads hooks. A process that was
// killed may leave each of them.
const (
	newPrefix   = ".new-"   // a bundle is written there
	oldPrefix   = ".old-"   // one that another has replaced
	sparePrefix = ".spare-" // room for the bundle after the one of that name
)

// stage writes the files of a bundle where no daemon looks for them.
func (h Home) stage(b Bundle) (dir string, err error) {
	if err := replacefile.MkdirAll(h.dir); err != nil {
		return "", err
	}
	if dir, err := h.takeRoom(b.Content); err == nil {
		if b.Content.Write(dir) == nil {
			return dir, nil
		}
		if err := os.RemoveAll(dir); err != nil { // something else was done to it
			return "", err
		}
	}
	if dir, err = replacefile.MkdirTemp(h.dir, newPrefix+"*"); err != nil {
		return "", err
	}
	if err := b.Content.Write(dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// makeRoom makes the folders and empty files of a bundle once more, for the bundle after this one:
// most of its paths are the same. To make thousands of files takes a disk the longest
// time, above all where many were deleted a moment ago; to fill them does not.
func (h Home) makeRoom(p Placed) error {
	if p.Dir == "" {
		return nil
	}
	room := filepath.Join(h.dir, sparePrefix+filepath.Base(p.Dir))
	if _, err := os.Lstat(room); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var empty pack.Content
	for _, f := range p.Manifest.Files {
		empty = append(empty, pack.File{Path: f.Path, Exec: f.Exec})
	}
	dir, err := replacefile.MkdirTemp(h.dir, newPrefix+"*")
	if err != nil {
		return err
	}
	if err := errors.Join(empty.Write(dir), os.Rename(dir, room)); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// takeRoom returns the folder that makeRoom has made, without the files that the content does not
// have. It is not there again for the next bundle. An error means that there is none.
func (h Home) takeRoom(c pack.Content) (dir string, err error) {
	now, _, err := h.Current()
	if err != nil || now.Dir == "" {
		return "", cmp.Or(err, fs.ErrNotExist)
	}
	name := filepath.Base(now.Dir)
	dir = filepath.Join(h.dir, newPrefix+name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(h.dir, sparePrefix+name), dir); err != nil {
		return "", err
	}
	if err := removeOthers(dir, now.Manifest.Files, c); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// removeOthers removes those of the files in dir that the content does not have, and the folders
// that are empty then.
func removeOthers(dir string, files []ManifestFile, c pack.Content) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if same, found := c.File(f.Path); found && same.Exec == f.Exec {
			continue
		}
		if err := root.Remove(f.Path); err != nil {
			return err
		}
		for parent := path.Dir(f.Path); parent != "." && root.Remove(parent) == nil; parent = path.Dir(parent) {
		}
	}
	return nil
}

// Copy copies the policy in force to another home, which has nothing yet; without a policy it
// copies nothing. Nothing is written to h.
func (h Home) Copy(to Home) error {
	c, set, err := h.Current()
	if err != nil || !set {
		return err
	}
	if err := replacefile.MkdirAll(to.dir); err != nil {
		return err
	}
	for _, p := range []Placed{c.Placed, c.Shadow} {
		if p.Dir == "" {
			continue
		}
		at := filepath.Join(to.dir, filepath.Base(p.Dir))
		if err := os.CopyFS(at, os.DirFS(p.Dir)); err != nil {
			return err
		}
		text, err := readfile.Read(p.Dir+Ending, MaxBytes)
		if err == nil {
			err = os.WriteFile(at+Ending, text, 0o600)
		}
		if ignore(err, fs.ErrNotExist) != nil { // without them nothing can be repaired
			return err
		}
	}
	return to.write("policy.json", c.State)
}

// Sweep removes bundles that are not in force any more, except for the newest of them,
// whose runs may not have finished, and makes room for the next one. It is called when the
// daemon has read the new ones: where bundles are large, the disk takes its time.
func (h Home) Sweep() error {
	return h.locked(func() error {
		c, _, err := h.Current()
		if err != nil {
			return err
		}
		return errors.Join(h.sweep(c), h.makeRoom(c.Placed))
	})
}

// sweep removes all folders but those of now, its room, and the newest one of those
// before. The caller holds the lock, so nothing else is being written.
func (h Home) sweep(now Current) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return ignore(err, fs.ErrNotExist)
	}
	stay := []string{}
	for _, p := range []Placed{now.Placed, now.Shadow} {
		if p.Dir != "" {
			stay = append(stay, filepath.Base(p.Dir), sparePrefix+filepath.Base(p.Dir))
		}
	}
	var old []fs.FileInfo
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(stay, e.Name()) {
			continue
		}
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(h.dir, e.Name())))
		} else if info, infoErr := e.Info(); infoErr == nil {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range old[min(len(old), 1):] {
		at := filepath.Join(h.dir, info.Name())
		err = errors.Join(err, os.RemoveAll(at), ignore(os.Remove(at+Ending), fs.ErrNotExist))
	}
	return err
}
