package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
)

// maxNewFile is the size in bytes up to which a file that the source does not
// track is captured.
const maxNewFile = 2 << 20

// batch is how many files one git process takes in, so that a capture that
// runs out of time leaves less to the next one.
const batch = 2000

// capture brings the shadow's index up to date, writes it as a tree and returns its
// name. Files in also are taken whatever the rules say. A later Prune removes the tree
// unless keep names it. The caller has the lock.
func (r *Repo) capture(ctx context.Context, also ...string) (string, error) {
	if err := r.prepare(ctx); err != nil {
		return "", fmt.Errorf("prepare snapshots of %s: %w", r.Root, err)
	}
	forced, err := r.list(ctx, r.ask, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	if err != nil {
		return "", err
	}
	forced = append(forced, also...)
	gone, changed, err := r.known(ctx, forced)
	if err != nil {
		return "", err
	}
	added, err := r.fresh(ctx)
	if err != nil {
		return "", err
	}
	if err := r.update(ctx, gone, "--force-remove"); err != nil {
		return "", err
	}
	present := slices.Concat(changed, added, forced)
	if err := r.update(ctx, slices.DeleteFunc(present, r.unreadable), "--add", "--remove", "--replace"); err != nil {
		return "", err
	}
	out, err := r.git(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// known compares the files of the last capture with the disk: which are gone,
// or ignored by now, and which may have other content.
func (r *Repo) known(ctx context.Context, forced []string) (gone, changed []string, err error) {
	ignored, err := r.list(ctx, r.shadow, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	gone = slices.DeleteFunc(ignored, has(forced))
	status, err := r.list(ctx, r.shadow, "diff-files", "-z", "--name-status", "--no-renames")
	if err != nil {
		return nil, nil, err
	}
	dropped := has(gone)
	for pair := range slices.Chunk(status, 2) {
		switch {
		case len(pair) < 2 || dropped(pair[1]):
		case pair[0] == "D":
			gone = append(gone, pair[1])
		default:
			changed = append(changed, pair[1])
		}
	}
	return gone, changed, nil
}

// fresh lists the files that the last capture did not have.
func (r *Repo) fresh(ctx context.Context) ([]string, error) {
	others, err := r.list(ctx, r.shadow, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	st, err := r.load()
	if err != nil {
		return nil, err
	}
	// a name that ends in a slash is a repository of its own
	others = slices.DeleteFunc(others, func(path string) bool { return strings.HasSuffix(path, "/") })
	large := slices.DeleteFunc(slices.Clone(others), func(path string) bool {
		return !r.large(path) && !slices.Contains(st.Large, path)
	})
	if len(large) > 0 {
		tracked, err := r.list(ctx, r.ask, "ls-files", "-z", "--cached")
		if err != nil {
			return nil, err
		}
		large = slices.DeleteFunc(large, has(tracked))
	}
	if !slices.Equal(large, st.Large) {
		st.Large = large
		if err := r.save(st); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(others, has(large)), nil
}

func has(list []string) func(string) bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return func(s string) bool { return set[s] }
}

func (r *Repo) large(path string) bool {
	info, err := os.Lstat(filepath.Join(r.Root, path))
	return err == nil && info.Mode().IsRegular() && info.Size() > maxNewFile
}

// unreadable reports files that git would stumble over. A file that has just
// vanished is not among them: git notes that it is gone.
func (r *Repo) unreadable(path string) bool {
	if r.behindLink(path) {
		return true
	}
	path = filepath.Join(r.Root, path)
	info, err := os.Lstat(path)
	if err != nil {
		return !os.IsNotExist(err) && !isNotDir(err)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return false
	}
	if !info.Mode().IsRegular() {
		return true
	}
	_, err = readfile.Head(path, 1)
	return err != nil
}

// behindLink reports whether a directory of path is a symbolic link: git knows
// only the link then.
func (r *Repo) behindLink(path string) bool {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(r.Root, dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (r *Repo) update(ctx context.Context, paths []string, options ...string) error {
	args := append(append([]string{"update-index"}, options...), "-z", "--stdin")
	for part := range slices.Chunk(paths, batch) {
		if _, err := r.git(ctx, joined(part), args...); err != nil {
			return err
		}
	}
	return nil
}

type runner func(ctx context.Context, args ...string) ([]byte, error)

func (r *Repo) shadow(ctx context.Context, args ...string) ([]byte, error) {
	return r.git(ctx, nil, args...)
}

func (r *Repo) list(ctx context.Context, run runner, args ...string) ([]string, error) {
	out, err := run(ctx, args...)
	return fields(out), err
}
