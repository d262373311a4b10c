package shadow

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// entry is a file in a tree; the zero entry is no file.
type entry struct{ mode, blob string }

// Modes of entries, as git writes them.
const (
	modeExecutable = "100755"
	modeLink       = "120000"
)

// change is how one file differs between two trees.
type change struct {
	path     string
	from, to entry
}

func (c change) status() string {
	switch (entry{}) {
	case c.from:
		return "added"
	case c.to:
		return "deleted"
	}
	return "modified"
}

// diff lists the files that differ, sorted by path.
func (r *Repo) diff(ctx context.Context, from, to string) ([]change, error) {
	out, err := r.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	var changes []change
	list := fields(out)
	for i := 0; i+1 < len(list); i += 2 {
		// ":100644 100755 BLOB BLOB M", then the path
		f := strings.Fields(strings.TrimPrefix(list[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("read git diff-tree: unexpected line %q", list[i])
		}
		changes = append(changes, change{list[i+1], newEntry(f[0], f[2]), newEntry(f[1], f[3])})
	}
	return changes, nil
}

func newEntry(mode, blob string) entry {
	if mode == "000000" {
		return entry{}
	}
	return entry{mode, blob}
}

// entries reads a whole tree, by path.
func (r *Repo) entries(ctx context.Context, tree string) (map[string]entry, error) {
	out, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	all := map[string]entry{}
	for _, line := range fields(out) {
		meta, file, ok := strings.Cut(line, "\t")
		f := strings.Fields(meta) // "100644 blob BLOB"
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("read git ls-tree: unexpected line %q", line)
		}
		all[file] = entry{f[0], f[2]}
	}
	return all, nil
}

// restore gives a file its old state. root keeps it inside the working tree
// whatever links there are; the new file takes the place of the old whole.
func (r *Repo) restore(ctx context.Context, root *os.Root, c change) error {
	content, err := r.git(ctx, nil, "cat-file", "blob", c.to.blob)
	if err != nil {
		return err
	}
	return place(root, c.path, c.to.mode, content)
}

func place(root *os.Root, file, mode string, content []byte) error {
	if err := root.MkdirAll(path.Dir(file), 0o777); err != nil {
		return err
	}
	if info, err := root.Lstat(file); err == nil && info.IsDir() {
		if err := removeEmpty(root, file); err != nil {
			return err
		}
	}
	temp := path.Join(path.Dir(file), ".hookd-restore-"+path.Base(file))
	if len(path.Base(temp)) > 255 { // the longest name a file can have
		temp = path.Join(path.Dir(file), ".hookd-restore")
	}
	if err := root.RemoveAll(temp); err != nil {
		return err
	}
	err := write(root, temp, mode, content, permissions(root, file, mode))
	if err == nil {
		err = root.Rename(temp, file)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}

func write(root *os.Root, name, mode string, content []byte, perm fs.FileMode) error {
	if mode == modeLink {
		return root.Symlink(string(content), name)
	}
	if perm != 0 { // made private first, so that it is never more open than it was
		if err := root.WriteFile(name, content, 0o600); err != nil {
			return err
		}
		return root.Chmod(name, perm)
	}
	open := fs.FileMode(0o666)
	if mode == modeExecutable {
		open = 0o777
	}
	return root.WriteFile(name, content, open)
}

// permissions are those of the file that is there, with the executable bits
// of mode; 0 where there is none.
func permissions(root *os.Root, file, mode string) fs.FileMode {
	info, err := root.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	perm := info.Mode().Perm() &^ 0o111
	if mode == modeExecutable {
		perm |= (perm & 0o444) >> 2 // users that may read it may run it
	}
	return perm
}

func readDir(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// removeEmpty deletes a directory that holds nothing but directories.
func removeEmpty(root *os.Root, dir string) error {
	list, err := readDir(root, dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.IsDir() {
			return fmt.Errorf("%s is in the way", path.Join(dir, e.Name()))
		}
		if err := removeEmpty(root, path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return root.Remove(dir)
}
