package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// real is a temporary folder without links in its path.
func real(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	hooktest.Must(t, err)
	return dir
}

// Working trees that git made share their repository; everything else that says
// so is a repository of its own.
func TestFind(t *testing.T) {
	base := real(t)
	main, linked := filepath.Join(base, "main"), filepath.Join(base, "linked")
	hooktest.GitCommit(t, main, map[string]string{"sub/file": "x"})
	hooktest.Git(t, main, "worktree", "add", "-q", linked)
	inner := filepath.Join(main, "sub", "inner")
	hooktest.GitCommit(t, inner, map[string]string{"deep/file": "x"})
	hooktest.Must(t, os.Symlink(filepath.Join(main, "sub"), filepath.Join(base, "link")))

	liar := filepath.Join(base, "liar") // says that it is a working tree of main
	gitFile, err := os.ReadFile(filepath.Join(linked, ".git"))
	hooktest.Must(t, err)
	hooktest.Write(t, filepath.Join(liar, ".git"), string(gitFile), 0o644)
	forger := filepath.Join(base, "forger") // brings a git directory that says so, too
	own := filepath.Join(forger, "own")
	hooktest.Write(t, filepath.Join(forger, ".git"), "gitdir: "+own+"\n", 0o644)
	hooktest.Write(t, filepath.Join(own, "commondir"), filepath.Join(main, ".git")+"\n", 0o644)
	hooktest.Write(t, filepath.Join(own, "gitdir"), filepath.Join(forger, ".git")+"\n", 0o644)
	pipe := filepath.Join(base, "long")
	hooktest.Write(t, filepath.Join(pipe, ".git"), "gitdir: "+string(make([]byte, 2*maxText)), 0o644)

	shared := filepath.Join(main, ".git")
	for dir, want := range map[string]Repository{
		main: {main, shared}, filepath.Join(main, "sub"): {main, shared},
		filepath.Join(base, "link"): {main, shared},
		linked:                      {linked, shared}, filepath.Join(linked, "sub"): {linked, shared},
		inner: {inner, filepath.Join(inner, ".git")}, filepath.Join(inner, "deep"): {inner, filepath.Join(inner, ".git")},
		liar:   {liar, filepath.Join(liar, ".git")},
		forger: {forger, filepath.Join(forger, ".git")},
		pipe:   {pipe, filepath.Join(pipe, ".git")},
	} {
		if got, ok := Find(dir); !ok || got != want {
			t.Errorf("%s is in %+v (%v), want %+v", dir, got, ok, want)
		}
	}
	for _, dir := range []string{base, filepath.Join(base, "no-such"), "relative", ""} {
		if got, ok := Find(dir); ok {
			t.Errorf("%q is in %+v", dir, got)
		}
	}
	if got := Trees(shared); !slices.Equal(got, []string{main, linked}) {
		t.Errorf("working trees: %v", got)
	}
	for _, id := range []string{filepath.Join(liar, ".git"), filepath.Join(forger, ".git")} {
		if got := Trees(id); !slices.Equal(got, []string{filepath.Dir(id)}) {
			t.Errorf("working trees of %s: %v", id, got)
		}
	}
	hooktest.Git(t, main, "checkout", "-q", "-b", "feat/notes")
	hooktest.Git(t, linked, "checkout", "-q", "-b", "side")
	hooktest.Git(t, inner, "checkout", "-q", "--detach")
	for dir, want := range map[string]string{main: "feat/notes", linked: "side", inner: "", forger: "", liar: ""} {
		if r, _ := Find(dir); r.Branch() != want {
			t.Errorf("%s is on %q, want %q", dir, r.Branch(), want)
		}
	}
	hooktest.Must(t, os.RemoveAll(linked))
	if got := Trees(shared); !slices.Equal(got, []string{main}) {
		t.Errorf("working trees after one is gone: %v", got)
	}
}

// A bare repository has working trees, too.
func TestBareRepository(t *testing.T) {
	base := real(t)
	first, bare, tree := filepath.Join(base, "first"), filepath.Join(base, "all.git"), filepath.Join(base, "tree")
	hooktest.GitCommit(t, first, map[string]string{"file": "x"})
	hooktest.Git(t, base, "clone", "-q", "--bare", first, bare)
	hooktest.Git(t, bare, "worktree", "add", "-q", tree)
	if got, ok := Find(tree); !ok || got != (Repository{tree, bare}) {
		t.Errorf("%+v, %v", got, ok)
	}
	if got := Trees(bare); !slices.Equal(got, []string{tree}) {
		t.Errorf("working trees: %v", got)
	}
}
