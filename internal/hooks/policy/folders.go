package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

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
// whose runs may not have finished. It is called when the daemon has read the new ones: where
// bundles are large, the disk takes its time.
func (h Home) Sweep() error {
	return h.locked(func() error {
		c, _, err := h.Current()
		if err != nil {
			return err
		}
		return h.sweep(c)
	})
}

// sweep removes all folders but those of now and the newest one of those before. The caller holds
// the lock, so nothing else is being written.
func (h Home) sweep(now Current) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return ignore(err, fs.ErrNotExist)
	}
	stay := []string{}
	for _, p := range []Placed{now.Placed, now.Shadow} {
		if p.Dir != "" {
			stay = append(stay, filepath.Base(p.Dir))
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
