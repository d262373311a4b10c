package shadow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// ConflictError says that files were changed since the checkpoint, or that
// something is in their way. Nothing has been touched.
type ConflictError struct {
	Paths []string // below the root, sorted
}

func (e *ConflictError) Error() string {
	first := strings.Join(e.Paths[:min(len(e.Paths), 5)], ", ")
	return fmt.Sprintf("%d file(s) changed since the checkpoint: %s", len(e.Paths), first)
}

// Undone is the outcome of Reset.
type Undone struct {
	Checkpoints []Checkpoint // taken back, oldest first; no longer in the list
	Files       []File       // what happened to files, sorted by path: added (came back), modified or deleted
	Kept        []string     // added files that stay, because the restored rules ignore them
	Before      string       // tree of the state before, for git show in the shadow
}

// Reset goes back to the state before checkpoint n, taking back all that came
// after it too; 0 is the last one. force overwrites files that were changed
// since, or in between. An error of the disk in the middle leaves the rest
// undone and the checkpoints in the list: the call can be made again.
func (r *Repo) Reset(ctx context.Context, n int, force bool) (u Undone, err error) {
	err = r.locked(ctx, func() error {
		st, err := r.load()
		if err != nil {
			return err
		}
		i, err := st.find(n)
		if err != nil {
			return err
		}
		u.Checkpoints = slices.Clone(st.Checkpoints[i:])
		if err := r.undo(ctx, &u, force); err != nil {
			return err
		}
		if st, err = r.load(); err != nil { // the capture may have written it
			return err
		}
		st.Checkpoints = st.Checkpoints[:i]
		return r.save(st)
	})
	return u, err
}

func (r *Repo) undo(ctx context.Context, u *Undone, force bool) error {
	p, err := r.plan(ctx, u.Checkpoints)
	if err != nil {
		return err
	}
	// files that are ignored by now, too: the present files must be seen
	now, err := r.capture(ctx, slices.Sorted(maps.Keys(p.steps))...)
	if err != nil {
		return err
	}
	u.Before = now
	if err := r.compare(ctx, p, now); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if in := p.conflicts(root, force); len(in) > 0 {
		return &ConflictError{Paths: in}
	}
	if err := r.keep(ctx, "undone", now); err != nil {
		return err
	}
	return r.carryOut(ctx, root, p, u)
}

// plan has the change that is due for each file.
type plan struct {
	steps    map[string]change         // from: as it is now, to: as it was
	changed  map[string]bool           // paths that were changed besides the checkpoints
	recorded map[string]map[entry]bool // what the checkpoints hold of each path
}

// plan reads from the checkpoints, oldest first, which files they changed.
func (r *Repo) plan(ctx context.Context, cps []Checkpoint) (plan, error) {
	p := plan{map[string]change{}, map[string]bool{}, map[string]map[entry]bool{}}
	after := map[string]entry{} // as the checkpoints so far left it
	for _, cp := range cps {
		changes, err := r.diff(ctx, cp.From, cp.To)
		if err != nil {
			return p, err
		}
		for _, c := range changes {
			if left, seen := after[c.path]; !seen {
				p.steps[c.path] = change{path: c.path, to: c.from}
				p.recorded[c.path] = map[entry]bool{}
			} else if left != c.from {
				p.changed[c.path] = true
			}
			after[c.path] = c.to
			p.recorded[c.path][c.from], p.recorded[c.path][c.to] = true, true
		}
	}
	return p, nil
}

// compare fills in how the files are now, and drops the steps that have
// nothing to do.
func (r *Repo) compare(ctx context.Context, p plan, now string) error {
	current, err := r.entries(ctx, now)
	if err != nil {
		return err
	}
	for file, c := range p.steps {
		c.from = current[file]
		p.steps[file] = c
		if c.from == c.to {
			delete(p.steps, file)
			delete(p.changed, file)
		} else if !p.recorded[file][c.from] {
			p.changed[file] = true
		}
	}
	return nil
}

// conflicts are the paths that stand against the plan. A file that no snapshot holds
// could not be brought back, so force does not lift its conflict.
func (p plan) conflicts(root *os.Root, force bool) []string {
	bad := map[string]bool{}
	if !force {
		maps.Copy(bad, p.changed)
	}
	for file, c := range p.steps {
		if c.to == (entry{}) {
			continue
		}
		if _, err := root.Lstat(file); c.from == (entry{}) && err == nil && !p.clears(root, file) {
			bad[file] = true
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if info, err := root.Lstat(dir); err == nil && !info.IsDir() && !p.deletes(dir) {
				bad[file] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(bad))
}

func (p plan) deletes(file string) bool {
	c, ok := p.steps[file]
	return ok && c.to == (entry{})
}

// clears reports whether dir is a directory that the plan empties.
func (p plan) clears(root *os.Root, dir string) bool {
	list, err := readDir(root, dir)
	if err != nil {
		return false
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if e.IsDir() && !p.clears(root, name) || !e.IsDir() && !p.deletes(name) {
			return false
		}
	}
	return true
}

// carryOut puts ignore rules back first, because they decide about deletions.
// Then it deletes, then restores the rest, which may need the room.
func (r *Repo) carryOut(ctx context.Context, root *os.Root, p plan, u *Undone) error {
	var rules, added, rest []change
	for _, file := range slices.Sorted(maps.Keys(p.steps)) {
		switch c := p.steps[file]; {
		case path.Base(file) == ".gitignore":
			rules = append(rules, c)
		case c.to == (entry{}):
			added = append(added, c)
		default:
			rest = append(rest, c)
		}
	}
	if err := r.apply(ctx, root, rules, u); err != nil {
		return err
	}
	ignored, err := r.ignored(ctx, added)
	if err != nil {
		return err
	}
	added = slices.DeleteFunc(added, func(c change) bool {
		if ignored(c.path) {
			u.Kept = append(u.Kept, c.path)
		}
		return ignored(c.path)
	})
	if err := r.apply(ctx, root, added, u); err != nil {
		return err
	}
	return r.apply(ctx, root, rest, u)
}

// apply gives each file its old state.
func (r *Repo) apply(ctx context.Context, root *os.Root, steps []change, u *Undone) error {
	for _, c := range steps {
		var err error
		if c.to == (entry{}) {
			err = remove(root, c.path)
		} else {
			err = r.restore(ctx, root, c)
		}
		if err != nil {
			return fmt.Errorf("undo %s: %w", c.path, err)
		}
		u.Files = append(u.Files, File{c.path, c.status()})
	}
	slices.SortFunc(u.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// remove deletes a file and the directories that are empty without it: git
// knows no empty ones.
func remove(root *os.Root, file string) error {
	if err := root.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}

// ignored returns which of the files the rules in force ignore.
func (r *Repo) ignored(ctx context.Context, files []change) (func(string) bool, error) {
	if len(files) == 0 {
		return has(nil), nil
	}
	var paths []string
	for _, c := range files {
		paths = append(paths, "./"+c.path) // so that a leading colon has no meaning
	}
	c := r.shadowCommand(joined(paths))
	c.quiet = 1 // none
	args := append(r.config[:len(r.config):len(r.config)], "check-ignore", "--no-index", "-z", "--stdin")
	out, err := c.run(ctx, args...)
	hit := has(fields(out))
	return func(path string) bool { return hit("./" + path) }, err
}
