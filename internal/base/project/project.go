// Package project finds in which repository a folder is, and which working trees
// a repository has: hooks that a repository brings along run for events in its
// working trees alone.
//
// It promises: a claim of a repository about itself is believed only where the other
// side says so, too; reads are bounded; a Finder answers from memory except for a
// folder that it has not heard of, and then within a fixed time. It starts no git and
// reads no hook.
package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
)

// HooksDir is where a working tree has its hooks.
const HooksDir = ".hookd/hooks"

// Repository is the repository that a folder is in.
type Repository struct {
	Root string // of the working tree, without links
	ID   string // the git directory that all its working trees share
}

// maxText is how long the small files of a git directory may be.
const maxText = 8 << 10

// maxTrees is how many working trees of a repository are known.
const maxTrees = 256

// Find returns the repository that dir, which is absolute, is in; ok is false where no
// folder above has a .git. A working tree that the repository does not list, such as a
// copied or made-up tree, is a repository of its own.
func Find(dir string) (r Repository, ok bool) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Repository{}, false
	}
	root := git.Top(dir)
	if root == "" {
		return Repository{}, false
	}
	r = Repository{Root: root, ID: filepath.Join(root, ".git")}
	if info, err := os.Lstat(r.ID); err == nil && info.Mode().IsRegular() {
		if common := commonDir(r.ID); common != "" {
			r.ID = common
		}
	}
	return r, true
}

// Branch returns the branch that the working tree is on, as git has noted it; "" = it is on none, or
// that cannot be read.
func (r Repository) Branch() string {
	dir := filepath.Join(r.Root, ".git")
	if gitDir, linked := strings.CutPrefix(text(dir), "gitdir: "); linked && r.ID != dir {
		dir = absolute(r.Root, gitDir)
	}
	branch, is := strings.CutPrefix(text(filepath.Join(dir, "HEAD")), "ref: refs/heads/")
	if !is || strings.HasPrefix(branch, ".") { // which no branch does: the names are in another file
		return ""
	}
	return branch
}

// commonDir is the git directory that the .git file of a linked working tree
// leads to, if that leads back.
func commonDir(file string) string {
	gitDir, ok := strings.CutPrefix(text(file), "gitdir: ")
	if !ok {
		return ""
	}
	gitDir = withoutLinks(absolute(filepath.Dir(file), gitDir))
	common := withoutLinks(absolute(gitDir, text(filepath.Join(gitDir, "commondir"))))
	back := gitFile(gitDir)
	if filepath.Join(withoutLinks(filepath.Dir(back)), ".git") != file || filepath.Dir(gitDir) != WorktreesDir(common) {
		return ""
	}
	return common
}

// withoutLinks is the real path of a folder; a folder that is not there keeps its own
// path.
func withoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Trees are the roots of the working trees of a repository, the main one first.
func Trees(id string) (roots []string) {
	add := func(root string) {
		if r, ok := Find(root); ok && r.ID == id && !slices.Contains(roots, r.Root) {
			roots = append(roots, r.Root)
		}
	}
	if root, main := strings.CutSuffix(id, "/.git"); main {
		add(root)
	}
	for _, dir := range linked(id) {
		if root, ok := strings.CutSuffix(gitFile(dir), "/.git"); ok {
			add(root)
		}
	}
	return roots
}

// Watched are the files whose change means that the repository has other working
// trees, beside the entries of WorktreesDir: git writes one after another.
func Watched(id string) (files []string) {
	for _, dir := range linked(id) {
		files = append(files, filepath.Join(dir, "gitdir"), filepath.Join(dir, "commondir"))
		if file := gitFile(dir); strings.HasSuffix(file, "/.git") {
			files = append(files, file)
		}
	}
	return files
}

// WorktreesDir is the folder whose entries are a repository's further working
// trees.
func WorktreesDir(id string) string { return filepath.Join(id, "worktrees") }

// linked are the folders of WorktreesDir.
func linked(id string) (dirs []string) {
	entries, _ := os.ReadDir(WorktreesDir(id)) // none, when it cannot be read
	for _, e := range entries[:min(len(entries), maxTrees)] {
		dirs = append(dirs, filepath.Join(WorktreesDir(id), e.Name()))
	}
	return dirs
}

// gitFile is the .git file of the working tree that a folder of WorktreesDir
// stands for.
func gitFile(dir string) string {
	back := text(filepath.Join(dir, "gitdir"))
	if back == "" {
		return ""
	}
	return absolute(dir, back)
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// text is the first line of a small file, "" where it cannot be read.
func text(path string) string {
	data, err := readfile.Read(path, maxText)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
