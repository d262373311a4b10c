package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// insideProject is an error for a plan that would write outside of the project that it is for: a
// repository may have links, and settings that lie elsewhere are another's.
func (t *target) insideProject(p Plan) error {
	if t.Project == "" {
		return nil
	}
	project, err := filepath.Abs(t.Project)
	if err == nil {
		project, err = filepath.EvalSymlinks(project)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing in it is a link
	}
	if err != nil {
		return fmt.Errorf("find the project: %w", err)
	}
	for _, c := range p.Changes {
		if err := isBelow(project, c.Path); err != nil {
			return err
		}
	}
	return nil
}

// isBelow is an error for a path that leads out of a folder, whose own path has no links:
// itself, or a folder above it where it does not exist yet.
func isBelow(folder, path string) error {
	for step := path; ; step = filepath.Dir(step) {
		real, err := filepath.EvalSymlinks(step)
		if errors.Is(err, fs.ErrNotExist) {
			if to, linked := os.Readlink(step); linked == nil {
				return fmt.Errorf("write %s: %s is a link to %s, where nothing is: remove it", path, step, to)
			}
			continue // the root exists
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if rel, err := filepath.Rel(folder, real); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("write %s: a link leads to %s, which is outside of the project %s: remove it, or leave out --project",
				path, real, folder)
		}
		return nil
	}
}
